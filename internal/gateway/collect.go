package gateway

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/openai"
)

// maxAnswer bounds the text of an answer that is held until its end, in
// bytes: far more than any context of our models holds.
const maxAnswer = 16 << 20 // 16 MiB

// collect waits for the whole answer and writes it. It returns the outcome.
func (g *Gateway) collect(ctx context.Context, w http.ResponseWriter, f *follower, c *call) string {
	var text strings.Builder
	for {
		frame, err := f.next(ctx)
		if err != nil {
			return g.giveUp(ctx, w)
		}
		switch frame.Kind {
		case bus.FrameQueued, bus.FrameStarted:
		case bus.FrameDelta:
			text.WriteString(frame.Text)
			if text.Len() > maxAnswer {
				g.log.Error("an answer is too long to be held", "request", requestID(c.id), "bytes", text.Len())
				refuse(w, errEngine())
				return "too-long"
			}
		case bus.FrameEnd:
			w.Header().Set(headerQueue, strconv.FormatInt(f.queuedFor().Milliseconds(), 10))
			writeJSON(w, http.StatusOK, openai.NewCompletion(completionID(c), c.model, c.begun.Unix(),
				text.String(), finishReason(frame), usage(frame)))
			return string(bus.Completed)
		case bus.FrameError:
			told := ofFailure(frame.Error)
			refuse(w, told)
			return told.Code
		}
	}
}

// giveUp ends an answer that has not begun, because ctx ended.
func (g *Gateway) giveUp(ctx context.Context, w http.ResponseWriter) string {
	outcome, told := ofContext(ctx)
	if told != nil {
		refuse(w, told)
	}
	return outcome
}

func completionID(c *call) string { return "chatcmpl-" + c.id }

func finishReason(f bus.Frame) string {
	if f.FinishReason == "" {
		return openai.FinishStop
	}
	return f.FinishReason
}

func usage(f bus.Frame) *openai.Usage {
	if f.Usage == nil {
		return openai.NewUsage(0, 0)
	}
	return openai.NewUsage(f.Usage.PromptTokens, f.Usage.CompletionTokens)
}
