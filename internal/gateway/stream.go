package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/queue"
)

// A show is one streamed answer.
type show struct {
	task   *task
	follow *follower
	events *eventWriter
	usage  bool // the client wants to know
	sieve  sieve
	status string // what a keep-alive tells
}

// stream shows the answer as it comes. It returns the outcome.
//
// The status is held back until there is text, or until pace.quiet has
// passed: an error up to then is told by its status, which every client
// understands; one after it becomes the last event, without [DONE].
func (t *task) stream(ctx context.Context, w http.ResponseWriter) string {
	s := t.show(w)
	for pause := t.g.pace.quiet; ; pause = t.g.pace.keepAlive {
		if outcome := s.during(ctx, pause); outcome != "" {
			return outcome
		}
		if time.Now().After(t.until) {
			s.events.fail(errTimeout())
			return "timeout"
		}
		if s.events.comment(s.status) != nil {
			return disconnected
		}
	}
}

func (t *task) show(w http.ResponseWriter) *show {
	c, d := t.c, t.dialect
	return &show{
		task: t, follow: &t.follow, usage: t.wish.usage, sieve: t.wish.sieve, status: "waiting",
		events: &eventWriter{
			w: w, rc: http.NewResponseController(w), patience: t.g.pace.write,
			chunks: d.stream(d.prefix+c.id, c.model, c.begun.Unix(), t.wish.usage),
		},
	}
}

// during shows what comes within the pause. It returns the outcome, or "" if
// the answer goes on. One context spans many frames, because most of them come
// much faster than a sign of life is due.
func (s *show) during(ctx context.Context, pause time.Duration) string {
	beat, cancel := context.WithTimeout(ctx, pause)
	defer cancel()
	for {
		// What came together goes out together, before anybody waits for more.
		for frame := s.follow.ready(); frame != nil; frame = s.follow.ready() {
			if outcome := s.show(frame); outcome != "" {
				return outcome
			}
		}
		if s.events.flush() != nil {
			return disconnected
		}
		frame, err := s.follow.next(beat)
		switch {
		case err == nil:
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			return ""
		default:
			return s.giveUp(ctx)
		}
		if outcome := s.show(frame); outcome != "" {
			return outcome
		}
	}
}

// show shows one frame. It returns the outcome, or "" if the answer goes on.
func (s *show) show(frame *queue.Frame) string {
	var err error
	switch frame.Kind {
	case queue.FrameQueued:
		s.status = queuedStatus(frame)
		err = s.events.commentIfOpen(s.status)
	case queue.FrameStarted:
		s.status = "started"
		err = s.start(frame)
	case queue.FrameDelta:
		s.status = "generating"
		err = s.events.text(s.sieve.push(frame.Text))
	case queue.FrameEnd:
		thoughts, text := s.sieve.rest()
		if s.events.end(thoughts, text, finishReason(frame), s.usage, usageOf(frame)) == nil {
			return string(queue.Completed)
		}
		return disconnected
	case queue.FrameError:
		told := ofFailure(frame.Error)
		s.events.fail(told)
		return told.Code
	}
	if err != nil {
		return disconnected
	}
	return ""
}

// start tells that an engine works on it, and what it will not honour: by
// headers, or by a comment if they have been sent.
func (s *show) start(frame *queue.Frame) error {
	if !s.events.open {
		h := s.events.w.Header()
		h.Set(headerQueue, strconv.FormatInt(s.follow.queuedFor().Milliseconds(), 10))
		s.task.tellIgnored(h, frame.Ignored)
		return nil
	}
	if len(frame.Ignored) > 0 {
		return s.events.comment("started ignored=" + strings.Join(frame.Ignored, ","))
	}
	return s.events.comment("started")
}

// giveUp ends a stream because ctx ended.
func (s *show) giveUp(ctx context.Context) string {
	outcome, told := ofContext(ctx)
	if told != nil {
		s.events.fail(told)
	}
	return outcome
}

func queuedStatus(f *queue.Frame) string {
	s := fmt.Sprintf("queued position=%d", f.Position)
	if wait := f.Wait.Round(time.Second); wait > 0 {
		s += fmt.Sprintf(" wait=%ds", int(wait.Seconds()))
	}
	return s
}
