package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// maxAnswer bounds the text of an answer that is held until its end. No context
// of a model holds as much.
const maxAnswer = 16 << 20 // bytes

// collect waits for the whole answer and writes it. It returns the outcome.
func (t *reply) collect(ctx context.Context, w http.ResponseWriter) string {
	ctx, cancel := context.WithDeadlineCause(ctx, t.until, errBackstop)
	defer cancel()
	c := collected{filter: &t.filter}
	for {
		frame, err := t.follow.next(ctx)
		if err != nil {
			return t.abandon(ctx, w)
		}
		switch frame.Kind {
		case queue.FrameQueued:
		case queue.FrameStarted:
			setIgnored(w.Header(), t.without(frame.Ignored))
			setMember(w.Header(), frame.Member)
		case queue.FrameDelta:
			if outcome := t.gather(w, &c, frame, c.size); outcome != "" {
				return outcome
			}
		case queue.FrameEnd:
			c.text(t.filter.rest())
			w.Header().Set(headerQueue, strconv.FormatInt(t.follow.queuedFor().Milliseconds(), 10))
			t.whole(w, &c)
			return string(queue.Completed)
		case queue.FrameError:
			refused := failureRefusal(frame.Error, t.limit)
			refuse(w, refused)
			return refused.Code
		}
	}
}

// gather adds a piece to what has come of an answer, of which size returns the bytes in
// all choices. It returns "", or the outcome if it has written a refusal.
func (t *reply) gather(w http.ResponseWriter, c *collected, frame *queue.Frame, size func() int) string {
	if err := c.add(frame); err != nil {
		t.undecoded(err)
		refuse(w, errInternal())
		return outcomeInternal
	}
	if held := size(); held > maxAnswer {
		t.g.log.Error("an answer is too long to be held", "request", t.ref.ID, "bytes", held)
		refuse(w, errEngine())
		return outcomeTooLong
	}
	return ""
}

// collected is what has come of an answer.
type collected struct {
	filter           *reasoningFilter
	thoughts, answer strings.Builder
	parts            openai.Parts
	raw              int // bytes of the parts
}

func (c *collected) add(frame *queue.Frame) error {
	if len(frame.Raw) == 0 {
		thoughts, text := c.filter.push(frame.Text)
		c.replace()
		c.text(thoughts, text)
		return nil
	}
	parts, err := partsOf(frame)
	if err != nil {
		return err
	}
	thoughts, text := c.filter.pushParts(frame.Text, parts)
	c.replace()
	c.text(thoughts, text)
	c.parts.Add(parts)
	c.raw += len(frame.Raw)
	return nil
}

// replace moves the text so far to the thoughts if it turns out to be some.
func (c *collected) replace() {
	if c.filter.misplaced() {
		thoughts, _ := c.filter.visible(c.answer.String(), "")
		c.answer.Reset()
		c.thoughts.WriteString(thoughts)
	}
}

func (c *collected) text(thoughts, text string) {
	c.thoughts.WriteString(thoughts)
	c.answer.WriteString(text)
}

func (c *collected) size() int { return c.thoughts.Len() + c.answer.Len() + c.raw }

// abandon ends an answer that has not begun, because ctx ended.
func (t *reply) abandon(ctx context.Context, w http.ResponseWriter) string {
	outcome, refused := t.contextRefusal(ctx)
	if refused != nil {
		refuse(w, refused)
	}
	return outcome
}

// whole writes the answer.
func (t *reply) whole(w http.ResponseWriter, c *collected) {
	writeJSON(w, http.StatusOK, t.operation.whole(t.answered(c, &t.follow.frame)))
}

// answered returns what has come until the last frame.
func (t *reply) answered(c *collected, frame *queue.Frame) answer {
	return answer{
		index: t.index, id: t.operation.idPrefix + t.in.id, model: t.model, created: t.in.begun.Unix(),
		thoughts: c.thoughts.String(), text: c.answer.String(), parts: c.parts, finish: finishReason(frame), usage: usageOf(frame), base64: t.base64,
	}
}

// partsOf decodes what a piece holds beside its text.
func partsOf(frame *queue.Frame) (*openai.Parts, error) {
	parts := &openai.Parts{}
	return parts, json.Unmarshal(frame.Raw, parts)
}

// undecoded logs a piece of an answer that no runner of this version sends.
func (t *reply) undecoded(err error) {
	t.g.log.Error("cannot decode a piece of an answer", "request", t.ref.ID, "error", err)
}

func finishReason(f *queue.Frame) string {
	if f.FinishReason == "" {
		return openai.FinishStop
	}
	return f.FinishReason
}

func usageOf(f *queue.Frame) *openai.Usage {
	if f.Usage == nil {
		return openai.NewUsage(0, 0)
	}
	return openai.NewUsage(f.Usage.PromptTokens, f.Usage.CompletionTokens).WithDetails(f.Usage.CachedTokens, f.Usage.ReasoningTokens)
}
