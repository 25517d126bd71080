package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/openai"
)

// stream shows the answer as it comes. It returns the outcome.
//
// The status is held back until there is text, or until pace.quiet has
// passed: an error up to then is told by its status, which every client
// understands; one after it becomes the last event, without [DONE].
func (g *Gateway) stream(ctx context.Context, w http.ResponseWriter, f *follower, chat openai.ChatRequest, c *call) string {
	s := &eventWriter{
		w: w, rc: http.NewResponseController(w), patience: g.pace.write,
		chunks: openai.NewStream(completionID(c), c.model, c.begun.Unix(), chat.UsageChunk),
	}
	status := "waiting"
	beat := newHeart(ctx, g.pace.quiet)
	defer func() { beat.stop() }()
	for {
		frame, err := f.next(beat.ctx)
		if err != nil {
			if !beat.due(ctx, err) {
				return g.giveUpStream(ctx, s)
			}
			if err := s.comment(status); err != nil {
				return "disconnected"
			}
			beat.restart(ctx, g.pace.keepAlive)
			continue
		}
		switch frame.Kind {
		case bus.FrameQueued:
			status = queuedStatus(frame)
			err = s.commentIfOpen(status)
		case bus.FrameStarted:
			status = "started"
			w.Header().Set("X-Koldun-Queue-Ms", strconv.FormatInt(f.queuedFor().Milliseconds(), 10))
			err = s.commentIfOpen(status)
		case bus.FrameDelta:
			status = "generating"
			err = s.text(frame.Text)
		case bus.FrameEnd:
			if err := s.end(finishReason(frame), chat.UsageChunk, usage(frame)); err != nil {
				return "disconnected"
			}
			return string(bus.Completed)
		case bus.FrameError:
			told := ofFailure(frame.Error)
			s.fail(told)
			return told.Code
		}
		if err != nil {
			return "disconnected"
		}
	}
}

func queuedStatus(f bus.Frame) string {
	s := fmt.Sprintf("queued position=%d", f.Position)
	if f.Wait > 0 {
		s += fmt.Sprintf(" wait=%ds", int(f.Wait.Round(time.Second).Seconds()))
	}
	return s
}

// A heart says when a sign of life is due. It is a context, because that is
// what ends the wait for a frame, and lasts over many frames, because most of
// them come much faster.
type heart struct {
	ctx  context.Context
	stop context.CancelFunc
}

func newHeart(ctx context.Context, pause time.Duration) *heart {
	h := &heart{}
	h.ctx, h.stop = context.WithTimeout(ctx, pause)
	return h
}

// due reports whether err says that the pause is over, and ctx is not.
func (h *heart) due(ctx context.Context, err error) bool {
	return ctx.Err() == nil && h.ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded)
}

func (h *heart) restart(ctx context.Context, pause time.Duration) {
	h.stop()
	h.ctx, h.stop = context.WithTimeout(ctx, pause)
}

// giveUpStream ends a stream because ctx ended.
func (g *Gateway) giveUpStream(ctx context.Context, s *eventWriter) string {
	outcome, told := ofContext(ctx)
	if told != nil {
		s.fail(told)
	}
	return outcome
}
