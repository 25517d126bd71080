// Package socket serves requests for responses on WebSockets.
package socket

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/gorizond/koldun/internal/openai"
)

const (
	maxAge  = time.Hour        // that a connection may last
	maxIdle = 10 * time.Minute // between requests
)

// A Client is whose requests a connection brings.
type Client interface {
	// Receive reads a frame, and holds its memory until Free is called. An error that is an
	// *openai.Error is sent, and any other ends the connection.
	Receive(frame io.Reader) ([]byte, error)
	Free()
	// Answer answers the request in a body.
	Answer(ctx context.Context, w http.ResponseWriter, body []byte)
	// Forget drops a response whose continuation has failed.
	Forget(response string)
}

// A Conn is one connection.
type Conn struct {
	conn   *websocket.Conn
	write  time.Duration // for one write
	body   time.Duration // for the rest of a frame that has begun
	client Client
	failed bool // the request was refused
}

// New returns a connection on which each write may take so long, and the rest of a frame
// that has begun.
func New(conn *websocket.Conn, write, body time.Duration, client Client) *Conn {
	return &Conn{conn: conn, write: write, body: body, client: client}
}

// Serve answers frames until the client leaves, or ctx ends. While an answer is
// written, only the header of the next frame is read, which also shows that the client
// leaves.
func (s *Conn) Serve(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	frames, next, stop := s.read(context.WithoutCancel(ctx), cancel)
	defer stop()
	limit, idle := time.NewTimer(maxAge), time.NewTimer(maxIdle)
	defer limit.Stop()
	defer idle.Stop()
	for {
		idle.Reset(maxIdle)
		select {
		case frame, ok := <-frames:
			if !ok || !s.turn(ctx, frame, next) {
				return
			}
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

// read receives the beginnings of frames until stop is called or the client leaves, which
// calls left. It goes on to another frame when next is called after each.
func (s *Conn) read(ctx context.Context, left func()) (frames <-chan io.Reader, next, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	received, finished := make(chan io.Reader), make(chan struct{}, 1)
	go func() {
		defer close(received)
		defer left()
		for {
			_, frame, err := s.conn.Reader(ctx)
			if err != nil {
				return
			}
			select {
			case received <- frame:
			case <-ctx.Done():
				return
			}
			select {
			case <-finished:
			case <-ctx.Done():
				return
			}
		}
	}()
	return received, func() { finished <- struct{}{} }, func() {
		_ = s.conn.Close(websocket.StatusNormalClosure, "")
		cancel()
		for range received { // until the goroutine has ended
		}
	}
}

// turn answers one frame, and calls next once it has been read. It reports whether the
// connection goes on.
func (s *Conn) turn(ctx context.Context, frame io.Reader, next func()) bool {
	defer s.client.Free()
	late := time.AfterFunc(s.body, func() { _ = s.conn.CloseNow() })
	received, err := s.client.Receive(frame)
	if err == nil {
		next()
	}
	var refused *openai.Error
	if errors.As(err, &refused) {
		s.fail(ctx, refused.Status, refused)
		if _, err = io.Copy(io.Discard, frame); err == nil {
			next()
		}
	}
	late.Stop()
	if refused != nil || err != nil {
		return err == nil
	}
	body, previous, invalid := request(received)
	if invalid != nil {
		s.fail(ctx, http.StatusBadRequest, invalid)
		return true
	}
	s.failed = false
	s.client.Answer(ctx, &writer{conn: s, ctx: ctx, header: http.Header{}}, body)
	if s.failed {
		s.client.Forget(previous)
	}
	return true
}

// request returns the body of the request in a frame, and the response that it continues. A
// request that fails makes the connection forget that.
func request(frame []byte) (body []byte, previous string, refused *openai.Error) {
	refused = openai.BadRequest("type", openai.CodeInvalidValue, "a frame must be a JSON object of the type 'response.create'")
	o, err := openai.ParseObject(frame)
	if err != nil {
		return nil, "", refused
	}
	body, err = o.Without(map[string]json.RawMessage{"stream": json.RawMessage("true")}, "type", "stream_options", "background")
	if err != nil {
		return nil, "", refused
	}
	if kind, _ := o.Text("type"); kind != "response.create" {
		return nil, "", refused
	}
	previous, _ = o.Text("previous_response_id") // of another type, the request is refused
	return body, previous, nil
}

func (s *Conn) send(ctx context.Context, data []byte) error {
	// The last frame says that ctx has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.write)
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
