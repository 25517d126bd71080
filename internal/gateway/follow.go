package gateway

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/gorizond/koldun/internal/queue"
)

// A follower reads the frames of one request and takes the times.
type follower struct {
	frames  frames
	metrics modelMetrics
	begun   time.Time
	permit  *permit

	frame   queue.Frame // the latest: large, so it is not handed around
	ended   bool        // the last frame came: nobody works on the request any more
	started time.Time
	first   time.Time // of the first text
	pieces  int       // of text
}

// next blocks for the next frame, which is valid until the next call. Errors are ctx's; queue.Frames may also end
// without a last frame (io.EOF), which is a defect of somebody.
func (f *follower) next(ctx context.Context) (*queue.Frame, error) {
	var err error
	if f.frame, err = f.frames.Next(ctx); err != nil {
		if errors.Is(err, io.EOF) {
			f.ended = true
		}
		return nil, err
	}
	f.note()
	return &f.frame, nil
}

// ready is next for a frame that has come already; nil if none has.
func (f *follower) ready() *queue.Frame {
	frame, ok := f.frames.Ready()
	if !ok {
		return nil
	}
	f.frame = frame
	f.note()
	return &f.frame
}

// note takes the times.
func (f *follower) note() {
	switch f.frame.Kind {
	case queue.FrameQueued:
	case queue.FrameStarted:
		if f.started.IsZero() {
			f.started = time.Now()
			f.metrics.queued.Observe(f.started.Sub(f.begun).Seconds())
			f.permit.started()
		}
	case queue.FrameDelta:
		if f.pieces++; f.pieces == 1 {
			f.first = time.Now()
			f.metrics.firstToken.Observe(f.first.Sub(f.begun).Seconds())
		}
	case queue.FrameEnd, queue.FrameError:
		// After an interruption another attempt may be at work, for nobody.
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

// queuedFor is the time until the engine started, 0 if it has not.
func (f *follower) queuedFor() time.Duration {
	if f.started.IsZero() {
		return 0
	}
	return f.started.Sub(f.begun)
}
