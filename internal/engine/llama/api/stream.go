package api

import (
	"net/http"
	"time"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/openai"
)

// stream is a reply in server-sent events.
type stream struct {
	w         http.ResponseWriter
	control   *http.ResponseController
	timeout   time.Duration // of one write
	id, model string
	created   int64
	wantUsage bool // in a chunk of its own
	chunks    *openai.Stream
	buf       []byte
	begun     bool
	logprobs  logprobs
}

func (s *stream) piece(p llama.Piece) error {
	s.buf = s.buf[:0]
	if !s.begun {
		s.begin()
		s.buf = s.chunks.Role(s.buf)
	}
	if parts := s.logprobs.parts(p); parts != nil {
		s.buf = s.chunks.Parts(s.buf, p.Text, parts)
	} else if p.Text != "" {
		s.buf = s.chunks.Text(s.buf, p.Text)
	}
	return s.send()
}

func (s *stream) calls(calls []openai.ToolCall) error {
	s.buf = s.chunks.Parts(s.buf[:0], "", &openai.Parts{ToolCalls: calls})
	return s.send()
}

func (s *stream) begin() {
	s.begun = true
	head := s.w.Header()
	head.Set("Content-Type", "text/event-stream; charset=utf-8")
	head.Set("Cache-Control", "no-cache")
	head.Set("X-Accel-Buffering", "no") // nginx would hold the stream back
	s.w.WriteHeader(http.StatusOK)
}

// finish ends the stream. It always sends the usage: in a chunk of its own if the
// client asked for that, or else in the last chunk, where clients that do not
// know the field ignore it.
func (s *stream) finish(r llama.Result) error {
	usage := openai.NewUsage(r.PromptTokens, r.Tokens).WithDetails(new(r.CachedTokens), nil)
	reason := string(r.Finish)
	if s.wantUsage {
		s.buf = s.chunks.Usage(s.chunks.Finish(s.buf[:0], reason), *usage)
	} else {
		s.buf = openai.AppendEvent(s.buf[:0], encode(openai.Chunk{
			ID: s.id, Object: "chat.completion.chunk", Created: s.created, Model: s.model, Usage: usage,
			Choices: []openai.ChunkChoice{{FinishReason: &reason, StopReason: r.Stop}},
		}))
	}
	s.buf = s.chunks.Done(s.buf)
	return s.send()
}

// fail sends the error: as a status, or, if one was sent before, as an event
// without [DONE] after it.
func (s *stream) fail(e *openai.Error) {
	if !s.begun {
		writeError(s.w, e)
		return
	}
	s.buf = openai.AppendEvent(s.buf[:0], encode(e))
	_ = s.send()
}

func (s *stream) send() error {
	_ = s.control.SetWriteDeadline(time.Now().Add(s.timeout))
	if _, err := s.w.Write(s.buf); err != nil { //nolint:gosec // events of JSON, and the header says so
		return errClient
	}
	if err := s.control.Flush(); err != nil {
		return errClient
	}
	return nil
}
