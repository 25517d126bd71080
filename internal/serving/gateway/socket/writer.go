package socket

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/gorizond/koldun/internal/openai"
)

// A writer sends the answer to one request as frames: each event of a stream
// is one, and so is a refusal. It relies on its users to write whole events.
type writer struct {
	conn   *Conn
	ctx    context.Context //nolint:containedctx // of the request whose answer it writes
	header http.Header
	status int
}

func (w *writer) Header() http.Header { return w.header }

func (w *writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Flush does nothing: frames are not held back.
func (w *writer) Flush() {}

// SetWriteDeadline does nothing: each frame has its own.
func (w *writer) SetWriteDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing: the body is there.
func (w *writer) SetReadDeadline(time.Time) error { return nil }

func (w *writer) Write(b []byte) (int, error) {
	if w.status >= http.StatusBadRequest {
		var e openai.Error
		if err := e.UnmarshalJSON(b); err != nil {
			return 0, err
		}
		w.conn.fail(w.ctx, w.status, &e)
		return len(b), nil
	}
	d := openai.NewDecoder(bytes.NewReader(b), len(b))
	for event, err := d.Next(); err == nil; event, err = d.Next() {
		// A connection has no end of a stream, and an error in an answer is in the
		// response that failed.
		if string(event.Data) == openai.Done || event.Type == "error" {
			continue
		}
		if event.Type == "response.failed" {
			w.conn.failed = true
		}
		if err := w.conn.send(w.ctx, event.Data); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}
