// Package socket serves requests for responses on WebSockets.
package socket

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/gorizond/koldun/internal/openai"
)

const (
	maxAge  = time.Hour        // that a connection may last
	maxIdle = 10 * time.Minute // between requests
)

// A Conn is one connection.
type Conn struct {
	conn    *websocket.Conn
	timeout time.Duration // of one write
	forget  func(response string)
	failed  bool // the request was refused
}

// New returns a connection on which each write may take so long. It calls forget with the
// id of a response whose continuation has failed.
func New(conn *websocket.Conn, timeout time.Duration, forget func(response string)) *Conn {
	return &Conn{conn: conn, timeout: timeout, forget: forget}
}

// An Answer answers the request in a body.
type Answer func(ctx context.Context, w http.ResponseWriter, body []byte)

// Serve answers frames until the client leaves, or ctx ends. While an answer is
// written, one more frame is read ahead, which also shows that the client leaves.
func (s *Conn) Serve(ctx context.Context, answer Answer) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	frames, stop := s.read(context.WithoutCancel(ctx), cancel)
	defer stop()
	limit, idle := time.NewTimer(maxAge), time.NewTimer(maxIdle)
	defer limit.Stop()
	defer idle.Stop()
	for {
		idle.Reset(maxIdle)
		select {
		case frame, ok := <-frames:
			if !ok {
				return
			}
			s.turn(ctx, frame, answer)
		case <-limit.C:
			s.fail(ctx, http.StatusBadRequest, openai.BadRequest("", "websocket_connection_limit_reached",
				"A connection lasts up to 60 minutes. Open another one."))
			return
		case <-idle.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// read receives frames until stop is called or the client leaves, which calls left.
func (s *Conn) read(ctx context.Context, left func()) (frames <-chan []byte, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	received := make(chan []byte)
	go func() {
		defer close(received)
		defer left()
		for {
			_, frame, err := s.conn.Read(ctx)
			if err != nil {
				return
			}
			select {
			case received <- frame:
			case <-ctx.Done():
				return
			}
		}
	}()
	return received, func() {
		_ = s.conn.Close(websocket.StatusNormalClosure, "")
		cancel()
		for range received { // until the goroutine has ended
		}
	}
}

// turn answers one frame. A request that fails makes the connection forget the
// response that it continues.
func (s *Conn) turn(ctx context.Context, frame []byte, answer Answer) {
	var head struct {
		Type     string `json:"type"`
		Previous string `json:"previous_response_id"`
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(frame, &fields) != nil || json.Unmarshal(frame, &head) != nil || head.Type != "response.create" {
		s.fail(ctx, http.StatusBadRequest, openai.BadRequest("type", openai.CodeInvalidValue,
			"a frame must be a JSON object of the type 'response.create'"))
		return
	}
	for _, name := range []string{"type", "stream_options", "background"} {
		delete(fields, name)
	}
	fields["stream"] = json.RawMessage("true")
	body, err := openai.Encode(fields)
	if err != nil {
		return
	}
	s.failed = false
	answer(ctx, &writer{conn: s, ctx: ctx, header: http.Header{}}, body)
	if s.failed {
		s.forget(head.Previous)
	}
}

func (s *Conn) send(ctx context.Context, data []byte) error {
	// The last frame says that ctx has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, data)
}

// fail sends an error frame.
func (s *Conn) fail(ctx context.Context, status int, e *openai.Error) {
	s.failed = true
	code, param := e.Code, any(e.Param)
	if code == "" {
		code = string(e.Type)
	}
	if e.Param == "" {
		param = nil
	}
	b, err := openai.Encode(map[string]any{
		"type": "error", "status": status, "error": map[string]any{"type": e.Type, "code": code, "message": e.Message, "param": param},
	})
	if err == nil {
		_ = s.send(ctx, b)
	}
}
