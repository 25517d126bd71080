package gateway

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/queue"
)

// maxAnswer bounds the text of an answer that is held until its end. No context
// of a model holds as much.
const maxAnswer = 16 << 20 // bytes

// collect waits for the whole answer and writes it. It returns the outcome.
func (t *generation) collect(ctx context.Context, w http.ResponseWriter) string {
	ctx, cancel := context.WithDeadlineCause(ctx, t.until, errBackstop)
	defer cancel()
	var thoughts, text strings.Builder
	add := func(a, b string) { thoughts.WriteString(a); text.WriteString(b) }
	for {
		frame, err := t.follow.next(ctx)
		if err != nil {
			return abandon(ctx, w)
		}
		switch frame.Kind {
		case queue.FrameQueued:
		case queue.FrameStarted:
			t.setIgnored(w.Header(), frame.Ignored)
			setMember(w.Header(), frame.Member)
		case queue.FrameDelta:
			add(t.filter.push(frame.Text))
			if thoughts.Len()+text.Len() > maxAnswer {
				t.g.log.Error("an answer is too long to be held", "request", t.ref.ID, "bytes", thoughts.Len()+text.Len())
				refuse(w, errEngine())
				return outcomeTooLong
			}
		case queue.FrameEnd:
			add(t.filter.rest())
			w.Header().Set(headerQueue, strconv.FormatInt(t.follow.queuedFor().Milliseconds(), 10))
			t.whole(w, thoughts.String(), text.String())
			return string(queue.Completed)
		case queue.FrameError:
			refused := failureRefusal(frame.Error)
			refuse(w, refused)
			return refused.Code
		}
	}
}

// abandon ends an answer that has not begun, because ctx ended.
func abandon(ctx context.Context, w http.ResponseWriter) string {
	outcome, refused := contextRefusal(ctx)
	if refused != nil {
		refuse(w, refused)
	}
	return outcome
}

// whole writes the answer.
func (t *generation) whole(w http.ResponseWriter, thoughts, text string) {
	frame := &t.follow.frame
	writeJSON(w, http.StatusOK, t.operation.whole(answer{
		id: t.operation.idPrefix + t.in.id, model: t.model, created: t.in.begun.Unix(),
		thoughts: thoughts, text: text, finish: finishReason(frame), usage: usageOf(frame),
	}))
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
	return openai.NewUsage(f.Usage.PromptTokens, f.Usage.CompletionTokens)
}
