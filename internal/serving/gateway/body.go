package gateway

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/openai"
)

// decode reads the body of a request and decodes it. The caller frees the body when
// the memory of the request is free.
func (g *Gateway) decode(
	w http.ResponseWriter, r *http.Request, metered *meteredBody, decode func(context.Context, []byte) (openai.Request, error),
) (openai.Request, *refusal) {
	if !mayBeJSON(r) {
		return openai.Request{}, errNotJSON()
	}
	most := g.maxBody()
	if r.ContentLength > most { // before the client is asked to send it all
		return openai.Request{}, errTooLarge(most)
	}
	metered.from = http.MaxBytesReader(w, r.Body, most)
	body, err := io.ReadAll(metered)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return openai.Request{}, errTooLarge(most)
	case errors.Is(err, errNoMemory):
		return openai.Request{}, errBusy()
	case err != nil:
		return openai.Request{}, errBodyBroken()
	}
	// The deadline must not outlast the body: it would end the watch for a
	// client that leaves, and the request with it. It stays if the body is not
	// whole, because the server reads on before it answers.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	req, err := decode(r.Context(), body)
	if err != nil {
		var invalid *openai.Error
		if errors.As(err, &invalid) {
			return openai.Request{}, &refusal{Error: *invalid}
		}
		return openai.Request{}, errInternal()
	}
	return req, nil
}

// maxBody is the largest body that is read: no larger one than NATS takes as a message.
func (g *Gateway) maxBody() int64 {
	if most := g.bus.Conn().MaxPayload(); most > 0 {
		return min(g.cfg.MaxBodyBytes, most)
	}
	return g.cfg.MaxBodyBytes
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
