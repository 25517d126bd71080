package gateway

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
)

// A body is one that is in memory already, such as a frame of a WebSocket, with the meter
// that holds its memory.
type body struct {
	io.ReadCloser // of the same bytes
	bytes         []byte
	meter         *meter
}

// readBody reads the body of a request. The meter holds its memory.
func (g *Gateway) readBody(w http.ResponseWriter, r *http.Request, m *meter) ([]byte, *refusal) {
	if !mayBeJSON(r) {
		return nil, errNotJSON()
	}
	if b, ok := r.Body.(*body); ok {
		m.adopt(b.meter)
		return b.bytes, nil
	}
	most := g.maxBody()
	if r.ContentLength > most { // before the client is asked to send it all
		return nil, errTooLarge(most)
	}
	read, err := m.read(http.MaxBytesReader(w, r.Body, most), r.ContentLength, most)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, errTooLarge(most)
	case errors.Is(err, errNoMemory):
		return nil, errBusy()
	case err != nil:
		return nil, errBodyBroken()
	}
	// The deadline must not outlast the body: it would end the watch for a
	// client that leaves, and the request with it. It stays if the body is not
	// whole, because the server reads on before it answers.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return read, nil
}

// decodeBody decodes a body.
func decodeBody(ctx context.Context, body []byte, decode func(context.Context, []byte) (openai.Request, error)) (openai.Request, *refusal) {
	req, err := decode(ctx, body)
	if err != nil {
		var invalid *openai.Error
		if errors.As(err, &invalid) {
			return openai.Request{}, &refusal{Error: *invalid}
		}
		return openai.Request{}, errInternal()
	}
	return req, nil
}

// maxBody is the largest body that is read: no larger one than NATS takes as a message, and
// than the queue takes as a request.
func (g *Gateway) maxBody() int64 {
	most := min(g.cfg.MaxBodyBytes, names.RequestMaxSize)
	if payload := g.bus.Conn().MaxPayload(); payload > 0 {
		most = min(most, payload)
	}
	return most
}

// mayBeJSON reports whether the body may be read as JSON: if its content type
// says so, or if the request does not come from a page of another origin. curl
// -d declares a form, which is accepted; but a browser sends any content type
// except JSON across origins without asking the server first, so a foreign page
// could use a gateway on its visitor's machine.
func mayBeJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json")) {
		return true
	}
	return new(http.CrossOriginProtection).Check(r) == nil
}
