package gateway

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/openai"
)

// read reads the body of a request for text.
func (g *Gateway) read(w http.ResponseWriter, r *http.Request, parse func([]byte) (openai.ChatRequest, error)) (openai.ChatRequest, *refusal) {
	if !mayBeJSON(r) {
		return openai.ChatRequest{}, errNotJSON()
	}
	if r.ContentLength > g.cfg.MaxBodyBytes { // before the client is asked to send it all
		return openai.ChatRequest{}, errTooLarge(g.cfg.MaxBodyBytes)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, g.cfg.MaxBodyBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return openai.ChatRequest{}, errTooLarge(g.cfg.MaxBodyBytes)
	case err != nil:
		return openai.ChatRequest{}, errBodyBroken()
	}
	// The deadline for the body must not outlast it: it would end the watch
	// for a client that leaves, and the request with it. It stays if the body
	// is not whole, because the server reads on before it answers.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	chat, err := parse(body)
	if err != nil {
		var invalid *openai.Error
		if errors.As(err, &invalid) {
			return openai.ChatRequest{}, &refusal{Error: *invalid}
		}
		return openai.ChatRequest{}, errInternal()
	}
	return chat, nil
}

// mayBeJSON reports whether the body may be taken for JSON. Without a word
// about it (curl -d says it is a form) it is, except from a browser on a page
// of somebody else: such a page can send anything but declared JSON to a
// gateway on its visitor's machine without being asked.
func mayBeJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json")) {
		return true
	}
	return new(http.CrossOriginProtection).Check(r) == nil
}

// ignoredHeader lists names in a header. Those that do not look like
// parameters, or would be too many, are left out.
func ignoredHeader(ignored []string) string {
	const most = 32
	var out []string
	for _, name := range ignored {
		if isParameter(name) && len(out) < most {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

func isParameter(name string) bool {
	if name == "" || len(name) > 40 {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
}

func namespaceOf(id string) string { namespace, _, _ := strings.Cut(id, "/"); return namespace }
func nameOf(id string) string      { _, name, _ := strings.Cut(id, "/"); return name }
