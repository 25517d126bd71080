package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// A streamer writes one streamed answer.
type streamer struct {
	*reply
	events *eventWriter
	status string // text of the keep-alive comments
}

// stream writes the answer as it comes. It returns the outcome.
//
// It holds the HTTP status back until there is text, or until timing.quiet has
// passed: an error before that becomes the status, which every client
// understands; one after it becomes the last event, without [DONE].
func (t *reply) stream(ctx context.Context, w http.ResponseWriter) string {
	s := t.streamer(w)
	for pause := t.g.timing.quiet; ; pause = t.g.timing.keepAlive {
		if outcome := s.writeFor(ctx, min(pause, time.Until(t.until))); outcome != "" {
			return outcome
		}
		if !time.Now().Before(t.until) {
			refused := t.late()
			s.events.fail(refused)
			return refused.Code
		}
		if s.events.comment(s.status) != nil {
			return outcomeDisconnected
		}
	}
}

func (t *reply) streamer(w http.ResponseWriter) *streamer {
	return &streamer{
		reply: t, status: "waiting",
		events: &eventWriter{
			w: w, rc: http.NewResponseController(w), timeout: t.g.timing.write,
			encoding: &encoding{chunks: t.operation.stream(t.streamOptions())},
		},
	}
}

func (t *reply) streamOptions() openai.StreamOptions {
	return openai.StreamOptions{ID: t.operation.idPrefix + t.in.id, Model: t.model, Created: t.in.begun.Unix(), IncludeUsage: t.includeUsage}
}

// writeFor writes what comes within the pause. It returns the outcome, or "" if
// the answer continues. One context spans many frames, because most of them come
// much faster than a keep-alive is due.
func (s *streamer) writeFor(ctx context.Context, pause time.Duration) string {
	beat, cancel := context.WithTimeout(ctx, pause)
	defer cancel()
	for {
		// Frames that came together go out together, before the wait for more.
		for frame := s.follow.ready(); frame != nil; frame = s.follow.ready() {
			if outcome := s.write(frame); outcome != "" {
				return outcome
			}
		}
		if s.events.flush() != nil {
			return outcomeDisconnected
		}
		frame, err := s.follow.next(beat)
		switch {
		case err == nil:
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			return ""
		default:
			return s.abandon(ctx)
		}
		if outcome := s.write(frame); outcome != "" {
			return outcome
		}
	}
}

// write writes one frame. It returns the outcome, or "" if the answer continues.
func (s *streamer) write(frame *queue.Frame) string {
	var err error
	switch frame.Kind {
	case queue.FrameQueued:
		s.status = queuedStatus(frame)
		err = s.events.commentIfOpen(s.status)
	case queue.FrameStarted:
		s.status = "started"
		err = s.started(frame)
	case queue.FrameDelta:
		s.status = "generating"
		return s.delta(frame)
	case queue.FrameEnd:
		thoughts, text := s.filter.rest()
		if s.events.end(thoughts, text, finishReason(frame), s.usage(frame)) == nil {
			return string(queue.Completed)
		}
		return outcomeDisconnected
	case queue.FrameError:
		refused := failureRefusal(frame.Error, s.limit)
		s.events.fail(refused)
		return refused.Code
	}
	if err != nil {
		return outcomeDisconnected
	}
	return ""
}

// delta writes a piece of the answer. It returns the outcome, or "" if the answer
// continues.
func (s *streamer) delta(frame *queue.Frame) string {
	if len(frame.Raw) == 0 {
		if s.events.text(s.filter.push(frame.Text)) != nil {
			return outcomeDisconnected
		}
		return ""
	}
	parts, err := partsOf(frame)
	if err != nil {
		s.undecoded(err)
		s.events.fail(errInternal())
		return outcomeInternal
	}
	thoughts, text := s.filter.pushParts(frame.Text, parts)
	if s.events.parts(thoughts, text, parts) != nil {
		return outcomeDisconnected
	}
	return ""
}

// usage returns the usage if the client wants it, or else nil.
func (s *streamer) usage(frame *queue.Frame) *openai.Usage {
	if !s.includeUsage {
		return nil
	}
	return usageOf(frame)
}

// started says that an engine works on the request, and what the engine does not
// honour: in headers, or in a comment if the headers have been sent.
func (s *streamer) started(frame *queue.Frame) error {
	if !s.events.open {
		h := s.events.w.Header()
		h.Set(headerQueue, strconv.FormatInt(s.follow.queuedFor().Milliseconds(), 10))
		setIgnored(h, s.without(frame.Ignored))
		setMember(h, frame.Member)
		return nil
	}
	if ignored := ignoredHeader(s.without(frame.Ignored)); ignored != "" {
		return s.events.comment("started ignored=" + strings.ReplaceAll(ignored, ", ", ","))
	}
	return s.events.comment("started")
}

// abandon ends a stream because ctx ended.
func (s *streamer) abandon(ctx context.Context) string {
	outcome, refused := s.contextRefusal(ctx)
	if refused != nil {
		s.events.fail(refused)
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
