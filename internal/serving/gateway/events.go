package gateway

import (
	"net/http"
	"time"

	"github.com/gorizond/koldun/internal/openai"
)

// An eventWriter writes one answer as server-sent events. It flushes each event
// at once, except pieces of text. An error means that the client is gone or does
// not read.
type eventWriter struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	timeout time.Duration // of one write
	*encoding

	open bool   // the status has been sent
	buf  []byte // to be flushed
}

// An encoding writes the chunks of one choice.
type encoding struct {
	chunks chunks
	role   bool // the first chunk has been sent
}

// text adds a piece of the answer: thoughts, text, or both. The next flush at
// the latest sends it.
func (s *eventWriter) text(thoughts, text string) error {
	if thoughts == "" && text == "" {
		return nil
	}
	s.buf = s.pieces(thoughts, text)
	if len(s.buf) < flushSize {
		return nil
	}
	return s.flush()
}

// parts adds a piece of the answer with what it holds beside its text.
func (s *eventWriter) parts(thoughts, text string, p *openai.Parts) error {
	b := s.begin()
	if thoughts != "" {
		b = s.chunks.Reasoning(b, thoughts)
	}
	if !p.IsEmpty() {
		b = s.chunks.Parts(b, text, p)
	} else if text != "" {
		b = s.chunks.Text(b, text)
	}
	s.buf = b
	if len(s.buf) < flushSize {
		return nil
	}
	return s.flush()
}

// flushSize is the size in bytes from which a larger write saves nothing.
const flushSize = 4 << 10

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

// end completes the answer with what is left of it, and with the usage unless
// that is nil.
func (s *eventWriter) end(thoughts, text, reason string, usage *openai.Usage) error {
	s.finish(thoughts, text, reason)
	return s.done(usage)
}

// finish completes one choice with what is left of it.
func (s *eventWriter) finish(thoughts, text, reason string) {
	s.buf = s.chunks.Finish(s.pieces(thoughts, text), reason)
}

// done completes the answer after its choices, with the usage unless that is nil.
func (s *eventWriter) done(usage *openai.Usage) error {
	if usage != nil {
		s.buf = s.chunks.Usage(s.buf, *usage)
	}
	s.buf = s.chunks.Done(s.buf)
	return s.flush()
}

// begin returns the buffer, with the first chunk if that is due.
func (s *eventWriter) begin() []byte {
	if s.role {
		return s.buf
	}
	s.role = true
	return s.chunks.Role(s.buf)
}

// fail ends the answer with an error: as a status if nothing was sent yet, or
// else as an event without [DONE] after it.
func (s *eventWriter) fail(e *refusal) {
	if !s.open && len(s.buf) == 0 {
		refuse(s.w, e)
		return
	}
	s.buf = s.chunks.Fail(s.buf, &e.Error)
	_ = s.flush()
}

// comment sends a comment, after the status if that is still due.
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

// flush sends the buffer.
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
	// A client that does not read must not hold a runner. Only writers of tests
	// have no deadlines.
	_ = s.rc.SetWriteDeadline(time.Now().Add(s.timeout))
	_, err := s.w.Write(s.buf)
	s.buf = s.buf[:0]
	if err != nil {
		return err
	}
	return s.rc.Flush()
}
