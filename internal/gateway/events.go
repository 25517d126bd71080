package gateway

import (
	"net/http"
	"time"

	"github.com/gorizond/koldun/internal/openai"
)

// An eventWriter writes one answer as server-sent events, each of them flushed
// at once but pieces of text. An error means that the client is gone or takes
// nothing.
type eventWriter struct {
	w        http.ResponseWriter
	rc       *http.ResponseController
	patience time.Duration // for the client to take one event
	chunks   chunks

	open bool   // the status has been sent
	role bool   // the first chunk has been sent
	buf  []byte // to be flushed
}

// text adds a piece of the answer: of the thoughts before it, of its text, or
// of both. Nothing is sent for neither, and both with the next flush at the
// latest.
func (s *eventWriter) text(thoughts, text string) error {
	if thoughts == "" && text == "" {
		return nil
	}
	s.buf = s.pieces(thoughts, text)
	if len(s.buf) < enoughText {
		return nil
	}
	return s.flush()
}

// enoughText is so much that more of it saves nothing.
const enoughText = 4 << 10

func (s *eventWriter) pieces(thoughts, text string) []byte {
	b := s.begin()
	if thoughts != "" {
		b = s.chunks.Reasoning(b, thoughts)
	}
	if text != "" {
		b = s.chunks.Text(b, text)
	}
	return b
}

// end completes the answer, with what is left of it.
func (s *eventWriter) end(thoughts, text, reason string, withUsage bool, u *openai.Usage) error {
	s.buf = s.chunks.Finish(s.pieces(thoughts, text), reason)
	if withUsage {
		s.buf = s.chunks.Usage(s.buf, *u)
	}
	s.buf = s.chunks.Done(s.buf)
	return s.flush()
}

// begin is the buffer, with the first chunk if that is due.
func (s *eventWriter) begin() []byte {
	if s.role {
		return s.buf
	}
	s.role = true
	return s.chunks.Role(s.buf)
}

// fail ends the answer with an error: by status if nothing was sent yet, else
// as an event that no [DONE] follows.
func (s *eventWriter) fail(e *refusal) {
	if !s.open && len(s.buf) == 0 {
		refuse(s.w, e)
		return
	}
	b, err := openai.Encode(&e.Error)
	if err != nil { // it can always be encoded
		return
	}
	s.buf = openai.AppendEvent(s.buf, b)
	_ = s.flush()
}

// comment sends a comment, and the status if that is still due.
func (s *eventWriter) comment(text string) error {
	s.buf = openai.AppendComment(s.buf, text)
	return s.flush()
}

// commentIfOpen sends a comment unless the status is still held back.
func (s *eventWriter) commentIfOpen(text string) error {
	if !s.open {
		return nil
	}
	return s.comment(text)
}

// flush sends what was added.
func (s *eventWriter) flush() error {
	if len(s.buf) == 0 {
		return nil
	}
	if !s.open {
		s.open = true
		h := s.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-cache, no-transform")
		h.Set("X-Accel-Buffering", "no") // nginx would collect events
		h.Set("X-Content-Type-Options", "nosniff")
		s.w.WriteHeader(http.StatusOK)
	}
	// A client that takes nothing must not hold a runner. Writers that know no
	// deadlines are those of tests.
	_ = s.rc.SetWriteDeadline(time.Now().Add(s.patience))
	_, err := s.w.Write(s.buf)
	s.buf = s.buf[:0]
	if err != nil {
		return err
	}
	return s.rc.Flush()
}
