package gateway

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/gorizond/koldun/internal/serving/gateway/limits"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// A follower reads the frames of one request and measures its times.
type follower struct {
	frames  frames
	metrics modelMetrics
	begun   time.Time
	permit  *limits.Permit

	frame   queue.Frame // the latest; large, so it is not copied
	ended   bool        // the last frame has come, and no runner works on the request any more
	started time.Time
	first   time.Time // of the first text
	pieces  int       // of text
}

// next blocks for the next frame, which is valid until the next call. It returns
// the error of ctx, or io.EOF if the frames end without a last one, which is a
// defect of the sender.
func (f *follower) next(ctx context.Context) (*queue.Frame, error) {
	var err error
	if f.frame, err = f.frames.Next(ctx); err != nil {
		if errors.Is(err, io.EOF) {
			f.ended = true
		}
		return nil, err
	}
	f.observe()
	return &f.frame, nil
}

// ready returns the next frame if it has come already, or else nil.
func (f *follower) ready() *queue.Frame {
	frame, ok := f.frames.Ready()
	if !ok {
		return nil
	}
	f.frame = frame
	f.observe()
	return &f.frame
}

// observe measures the times.
func (f *follower) observe() {
	switch f.frame.Kind {
	case queue.FrameQueued:
	case queue.FrameStarted:
		if f.started.IsZero() {
			f.started = time.Now()
			f.metrics.queued.Observe(f.started.Sub(f.begun).Seconds())
			f.permit.Started()
		}
	case queue.FrameDelta:
		if f.pieces++; f.pieces == 1 {
			f.first = time.Now()
			f.metrics.firstToken.Observe(f.first.Sub(f.begun).Seconds())
		}
	case queue.FrameEnd, queue.FrameError:
		// After an interruption another attempt may still be running, without a client.
		f.ended = f.frame.Error == nil || f.frame.Error.Code != queue.CodeInterrupted
		f.count(f.frame.Usage)
	}
}

func (f *follower) count(u *queue.Usage) {
	f.metrics.duration.Observe(time.Since(f.begun).Seconds())
	if u == nil {
		return
	}
	f.metrics.tokensIn.Observe(float64(max(u.PromptTokens, 0)))
	f.metrics.tokensOut.Observe(float64(max(u.CompletionTokens, 0)))
	if n := u.CompletionTokens - 1; n > 0 && !f.first.IsZero() {
		f.metrics.perToken.Observe(time.Since(f.first).Seconds() / float64(n))
	}
}

// queuedFor returns the time until the engine started, or 0 if it has not.
func (f *follower) queuedFor() time.Duration {
	if f.started.IsZero() {
		return 0
	}
	return f.started.Sub(f.begun)
}
