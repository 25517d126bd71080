package queue

import (
	"context"
	"io"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue/wire"
)

const (
	// frameBuffer is the number of buffered frames per stream. Frames beyond it
	// are requested again. It is small, because each open stream has one.
	frameBuffer = 128
	// frameIdle is how long a stream may be silent before it requests missing
	// frames, over any number of calls of Next.
	frameIdle = 15 * time.Second
	// resumePause is the pause between two requests for missing frames, and
	// progressPause that after an answered one.
	resumePause   = 500 * time.Millisecond
	progressPause = 10 * time.Millisecond
	// lostAfter is how long to look for the frames of an ended request.
	lostAfter = 3 * time.Second
)

// frames are the subjects that carry the frames of answers.
type frames struct {
	bus          *bus.Bus
	outcomes     outcomes
	unsubscriber unsubscriber
}

// PublishFrame sends a frame to the followers of a request of the session, if any.
func (s *frames) PublishFrame(session string, f Frame) error {
	data, err := wire.Encode(&f)
	if err != nil {
		return fault.Errorf(fault.Internal, "cannot encode a frame of request %q: %w", f.Request, err)
	}
	if err := s.bus.Conn().Publish(names.FramesSubject(session, f.Request), data); err != nil {
		return fault.Errorf(fault.KindOf(bus.Kinded(err)), "cannot publish a frame of request %q: %w", f.Request, err)
	}
	return nil
}

// Frames is the stream of frames of one request. It belongs to one goroutine.
type Frames struct {
	of    *frames
	ref   Ref
	sub   *nats.Subscription
	msgs  chan *nats.Msg
	order frameOrder

	reconnected <-chan struct{}
	dropped     int       // last count of frames that the buffer could not hold
	nextAsk     time.Time // earliest time of the next resume
	lastAsk     time.Time // time of the last resume
	heeded      bool      // whether frames have arrived since
	behind      bool      // whether frames are missing
	silent      time.Time // start of the current silence, or zero
	endedAt     time.Time // time of the terminal record, or of a frame after it
	completed   bool      // whether the request has completed, so that all frames exist
	ending      Frame     // the frame for the terminal record
}

// SubscribeFrames follows a request. Subscribe before publishing the request, or
// its first frames arrive only after a pause. The caller must close the stream.
func (s *frames) SubscribeFrames(ref Ref) (*Frames, error) {
	f := &Frames{
		of:          s,
		ref:         ref,
		msgs:        make(chan *nats.Msg, frameBuffer),
		reconnected: s.bus.Reconnected(),
	}
	s.unsubscriber.flush()
	sub, err := s.bus.Conn().ChanSubscribe(names.FramesSubject(ref.Session, ref.ID), f.msgs)
	if err != nil {
		return nil, fault.Errorf(fault.KindOf(bus.Kinded(err)), "cannot follow request %q: %w", ref.ID, err)
	}
	f.sub = sub
	return f, nil
}

// Close ends the stream. It may be called more than once.
func (f *Frames) Close() { f.of.unsubscriber.add(f.sub) }

// Next blocks for the next frame and returns io.EOF after the last (End or
// Error). It returns the frames of a single generation, in order and without a
// gap: it requests lost frames again, drops late frames of older attempts, and
// returns an Error frame with the code "interrupted" if a newer attempt starts
// after text was returned. Other errors are those of ctx.
func (f *Frames) Next(ctx context.Context) (Frame, error) {
	if f.order.ended {
		return Frame{}, io.EOF
	}
	// The common case needs no timer.
	if frame, ok := f.Ready(); ok {
		return frame, nil
	}
	timer := time.NewTimer(f.patience())
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return Frame{}, ctx.Err()
		case m := <-f.msgs:
			if frame, ok := f.accept(m); ok {
				return frame, nil
			}
		case <-f.reconnected:
			f.reconnected = f.of.bus.Reconnected()
			f.behind = true
		case <-timer.C:
			f.behind = true
		}
		if frame, ok := f.catchUp(ctx); ok {
			return frame, nil
		}
		timer.Reset(f.patience())
	}
}

// Ready returns the next frame if it has already arrived; see Next.
func (f *Frames) Ready() (Frame, bool) {
	for !f.order.ended {
		select {
		case m := <-f.msgs:
			if frame, ok := f.accept(m); ok {
				return frame, true
			}
		default:
			return Frame{}, false
		}
	}
	return Frame{}, false
}

// accept decodes a message and reports whether it is the next frame.
func (f *Frames) accept(m *nats.Msg) (Frame, bool) {
	f.silent = time.Time{}
	frame := Frame{Request: f.ref.ID, Kind: FrameDelta} // the expected strings, see wire.Unmarshal
	err := wire.Unmarshal(m.Data, &frame)
	if err != nil || frame.Request != f.ref.ID {
		f.of.bus.Logger().Warn("cannot decode a frame", "request", f.ref.ID, "error", err)
		return Frame{}, false
	}
	out, verdict := f.order.take(frame)
	switch verdict {
	case deliver:
		f.behind = f.behind || f.lostSome()
		f.heeded = true
		if !f.endedAt.IsZero() { // frames still arrive: wait for them
			f.endedAt = time.Now()
			f.nextAsk = f.endedAt.Add(resumePause)
		}
		return out, true
	case gap:
		f.behind = true
	case drop:
	}
	return Frame{}, false
}

// lostSome reports whether the buffer has overflowed since the last call.
func (f *Frames) lostSome() bool {
	dropped, err := f.sub.Dropped()
	if err != nil || dropped == f.dropped {
		return false
	}
	f.dropped = dropped
	return true
}

func (f *Frames) patience() time.Duration {
	f.behind = f.behind || f.lostSome()
	if f.behind || !f.endedAt.IsZero() {
		return max(time.Until(f.due()), time.Millisecond)
	}
	if f.silent.IsZero() {
		f.silent = time.Now()
	}
	return max(frameIdle-time.Since(f.silent), time.Millisecond)
}

// due returns the time of the next resume. It is early when all frames of the
// last resume have been read, because one answer may not contain all of them.
func (f *Frames) due() time.Time {
	if f.heeded && len(f.msgs) == 0 && f.endedAt.IsZero() {
		return f.lastAsk.Add(progressPause)
	}
	return f.nextAsk
}

// catchUp requests missing frames, and checks whether the request has ended
// unnoticed. It returns the final frame if no others can be obtained.
func (f *Frames) catchUp(ctx context.Context) (Frame, bool) {
	now := time.Now()
	if !f.behind || now.Before(f.due()) {
		return Frame{}, false
	}
	alive := f.heeded
	f.nextAsk, f.lastAsk, f.heeded, f.silent = now.Add(resumePause), now, false, now
	if err := f.of.bus.Send(names.ResumeSubject(f.ref.Session, f.ref.ID), f.order.resume(f.ref.Tenant)); err != nil {
		f.of.bus.Logger().Debug("cannot ask for frames", "request", f.ref.ID, "error", err)
	}
	// If frames are still missing, the next frame to arrive shows it.
	f.behind = false
	if alive {
		return Frame{}, false // frames arrive, so the request has not ended
	}
	if f.endedAt.IsZero() && !f.lookForEnd(ctx, now) {
		return Frame{}, false
	}
	if f.completed && now.Sub(f.endedAt) < lostAfter {
		return Frame{}, false // the last frames may still arrive
	}
	f.order.ended = true
	return f.ending, true
}

// lookForEnd reads the terminal record, and reports whether it exists.
func (f *Frames) lookForEnd(ctx context.Context, now time.Time) bool {
	ctx, cancel := context.WithTimeout(ctx, cancelTry)
	defer cancel()
	o, err := f.of.outcomes.Outcome(ctx, f.ref)
	if err != nil {
		return false
	}
	f.endedAt, f.completed = now, o.State == Completed
	f.ending = Frame{Request: f.ref.ID, Epoch: f.order.epoch, Attempt: f.order.attempt, Seq: -1, Kind: FrameError, Error: o.Error}
	if o.Error == nil {
		f.ending.Error = &Failure{Code: CodeInterrupted, Message: "the answer was generated but lost on its way"}
	}
	return true
}
