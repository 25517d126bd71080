package gateway

import (
	"net/http"
	"strings"

	"github.com/gorizond/koldun/internal/httpserver"
)

// An endpoint is one entry of the API.
type endpoint struct {
	label  string // in metrics and logs
	method string
	path   string // a pattern of http.ServeMux; {id...} matches the rest
	handle handleFunc
	open   bool // for callers without a token, too
}

// endpoints returns the API. Routes, allowed methods, labels of metrics and the
// text of the 404 follow from it.
func (g *Gateway) endpoints() []endpoint {
	return []endpoint{
		{"chat", http.MethodPost, "/v1/chat/completions", g.handleGenerate(chatOperation()), false},
		{"completion", http.MethodPost, "/v1/completions", g.handleGenerate(completionOperation()), false},
		{"embedding", http.MethodPost, "/v1/embeddings", g.handleGenerate(embeddingOperation()), false},
		{"models", http.MethodGet, "/v1/models", g.handleModels, false},
		{"model", http.MethodGet, modelPath + "{id...}", g.handleModel, false},
		{"health", http.MethodGet, "/healthz", answerWith(httpserver.Health(nil)), true},
		{"health", http.MethodGet, "/readyz", answerWith(httpserver.Checks(g.checks()...)), true},
	}
}

// modelPath precedes the id of a model.
const modelPath = "/v1/models/"

// Labels of requests that reach no endpoint.
const (
	labelOther     = "other"
	labelPreflight = "preflight" // see shareWithOrigin
)

// allowed lists the methods of an endpoint, as the Allow header does.
func (e endpoint) allowed() string {
	if e.method == http.MethodGet {
		return http.MethodGet + ", " + http.MethodHead
	}
	return e.method
}

func (e endpoint) allows(method string) bool {
	return method == e.method || method == http.MethodHead && e.method == http.MethodGet
}

// shown names the endpoint to people.
func (e endpoint) shown() string {
	return e.method + " " + strings.ReplaceAll(e.path, "...}", "}")
}

// A router finds the endpoint of a request by the rules of http.ServeMux.
type router struct {
	mux  *http.ServeMux
	none *refusal // of a path that no endpoint has
}

// A route is an endpoint in an http.ServeMux, which only looks it up: its
// http.Handler is nil.
type route struct {
	http.Handler
	endpoint endpoint
}

func newRouter(endpoints []endpoint) *router {
	mux := http.NewServeMux()
	shown := make([]string, 0, len(endpoints))
	for _, e := range endpoints {
		mux.Handle(e.path, route{endpoint: e})
		shown = append(shown, e.shown())
	}
	return &router{mux: mux, none: errNoEndpoint(shown)}
}

// find returns the endpoint of a request. If the endpoint cannot take the
// request, or there is none, the handler is the one to answer it instead.
func (rt *router) find(r *http.Request) (e endpoint, instead http.Handler) {
	h, pattern := rt.mux.Handler(r)
	found, ok := h.(route)
	switch {
	case ok && found.endpoint.allows(r.Method):
		return found.endpoint, nil
	case ok:
		return found.endpoint, errMethod(found.endpoint.allowed())
	case pattern == "":
		return endpoint{label: labelOther}, rt.none
	}
	return endpoint{label: labelOther}, rt.mux // redirects to the clean path
}

// answerWith is the handleFunc of an http.Handler.
func answerWith(h http.Handler) handleFunc {
	return func(w http.ResponseWriter, r *http.Request, _ incoming) (*generation, *refusal) {
		h.ServeHTTP(w, r)
		return nil, nil
	}
}
