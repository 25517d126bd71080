package gateway

import (
	"context"
	"net/http"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// An endpoint is one entry of the API.
type endpoint struct {
	label  string // in metrics and logs
	method string
	path   string // a pattern of http.ServeMux; {id...} matches the rest
	handle handleFunc
	open   bool // for callers without a token, too
	// shape returns an error as its clients expect it; nil: in OpenAI's shape, as it is.
	shape func(*openai.Error) any
}

// A handleFunc answers a request, or returns the task that is to answer it, or a
// refusal. A task that comes with a refusal is not run: it holds what the log shows of
// the request.
type handleFunc func(http.ResponseWriter, *http.Request, incoming) (task, *refusal)

// A task writes the answer to a request once its handler has returned.
type task interface {
	run(ctx context.Context, w http.ResponseWriter)
	// summary returns what is known of the request, at any time.
	summary() summary
}

// Labels of requests that reach no endpoint.
const (
	labelOther     = "other"
	labelPreflight = "preflight" // see shareWithOrigin
)

// shown names the endpoint to people.
func (e endpoint) shown() string {
	return e.method + " " + strings.ReplaceAll(e.path, "...}", "}")
}

// A router finds the endpoint of a request by the rules of http.ServeMux.
type router struct {
	mux  *http.ServeMux
	none *refusal // of a path that no endpoint has
}

// A route holds the endpoints of a path, one for each method, in an http.ServeMux,
// which only looks it up: its http.Handler is nil.
type route struct {
	http.Handler
	endpoints []endpoint
}

func newRouter(endpoints []endpoint) *router {
	routes := map[string]route{}
	shown := make([]string, 0, len(endpoints))
	for _, e := range endpoints {
		routes[e.path] = route{endpoints: append(routes[e.path].endpoints, e)}
		shown = append(shown, e.shown())
	}
	mux := http.NewServeMux()
	for path, r := range routes {
		mux.Handle(path, r)
	}
	return &router{mux: mux, none: errNoEndpoint(shown)}
}

// of returns the endpoint that takes a method, and whether there is one; if not,
// the first endpoint stands for the path.
func (r route) of(method string) (endpoint, bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, e := range r.endpoints {
		if e.method == method {
			return e, true
		}
	}
	return r.endpoints[0], false
}

// allowed lists the methods of a path, as the Allow header does.
func (r route) allowed() string {
	var methods []string
	for _, e := range r.endpoints {
		methods = append(methods, e.method)
		if e.method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	return strings.Join(methods, ", ")
}

// find returns the endpoint of a request. If the endpoint cannot take the
// request, or there is none, the handler is the one to answer it instead.
func (rt *router) find(r *http.Request) (e endpoint, instead http.Handler) {
	h, pattern := rt.mux.Handler(r)
	if found, ok := h.(route); ok {
		e, ok := found.of(r.Method)
		if !ok {
			return e, errMethod(found.allowed())
		}
		return e, nil
	}
	if pattern == "" {
		return endpoint{label: labelOther}, rt.none
	}
	return endpoint{label: labelOther}, rt.mux // redirects to the clean path
}

// answerWith is the handleFunc of an http.Handler.
func answerWith(h http.Handler) handleFunc {
	return func(w http.ResponseWriter, r *http.Request, _ incoming) (task, *refusal) {
		h.ServeHTTP(w, r)
		return nil, nil
	}
}
