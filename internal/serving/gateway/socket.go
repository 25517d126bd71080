package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/gorizond/koldun/internal/openai"
)

const (
	socketTime = time.Hour        // that a connection may last
	socketIdle = 10 * time.Minute // between requests
)

// A socket is one connection.
type socket struct {
	conn    *websocket.Conn
	timeout time.Duration // of one write
	memory  *memory
	failed  bool // the request was refused
}

// serve answers frames until the client leaves, or ctx ends. While an answer is
// written, one more frame is read ahead, which also shows that the client leaves.
func (s *socket) serve(ctx context.Context, answer func(context.Context, []byte)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	frames, stop := s.read(context.WithoutCancel(ctx), cancel)
	defer stop()
	limit, idle := time.NewTimer(socketTime), time.NewTimer(socketIdle)
	defer limit.Stop()
	defer idle.Stop()
	for {
		idle.Reset(socketIdle)
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
func (s *socket) read(ctx context.Context, left func()) (frames <-chan []byte, stop func()) {
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
func (s *socket) turn(ctx context.Context, frame []byte, answer func(context.Context, []byte)) {
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
	answer(ctx, body)
	if s.failed {
		s.memory.forget(head.Previous)
	}
}

func (s *socket) send(ctx context.Context, data []byte) error {
	// The last frame says that ctx has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, data)
}

// fail sends an error frame.
func (s *socket) fail(ctx context.Context, status int, e *openai.Error) {
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
