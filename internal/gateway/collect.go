package gateway

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/queue"
)

// maxAnswer bounds the text of an answer that is held until its end, in
// bytes: far more than any context of our models holds.
const maxAnswer = 16 << 20 // 16 MiB

// collect waits for the whole answer and writes it. It returns the outcome.
func (t *task) collect(ctx context.Context, w http.ResponseWriter) string {
	ctx, cancel := context.WithDeadlineCause(ctx, t.until, errBackstop)
	defer cancel()
	var thoughts, text strings.Builder
	add := func(a, b string) { thoughts.WriteString(a); text.WriteString(b) }
	for {
		frame, err := t.follow.next(ctx)
		if err != nil {
			return giveUp(ctx, w)
		}
		switch frame.Kind {
		case queue.FrameQueued:
		case queue.FrameStarted:
			t.tellIgnored(w.Header(), frame.Ignored)
		case queue.FrameDelta:
			add(t.wish.sieve.push(frame.Text))
			if thoughts.Len()+text.Len() > maxAnswer {
				t.g.log.Error("an answer is too long to be held", "request", t.ref.ID, "bytes", thoughts.Len()+text.Len())
				refuse(w, errEngine())
				return "too-long"
			}
		case queue.FrameEnd:
			add(t.wish.sieve.rest())
			w.Header().Set(headerQueue, strconv.FormatInt(t.follow.queuedFor().Milliseconds(), 10))
			t.whole(w, thoughts.String(), text.String())
			return string(queue.Completed)
		case queue.FrameError:
			told := ofFailure(frame.Error)
			refuse(w, told)
			return told.Code
		}
	}
}

// giveUp ends an answer that has not begun, because ctx ended.
func giveUp(ctx context.Context, w http.ResponseWriter) string {
	outcome, told := ofContext(ctx)
	if told != nil {
		refuse(w, told)
	}
	return outcome
}

// whole writes the answer.
func (t *task) whole(w http.ResponseWriter, thoughts, text string) {
	frame := &t.follow.frame
	writeJSON(w, http.StatusOK, t.dialect.whole(answer{
		id: t.dialect.prefix + t.c.id, model: t.c.model, created: t.c.begun.Unix(),
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
