package gateway

import (
	"context"
	"net/http"
	"runtime/debug"
	"time"
)

// A call is what the parts of the chain know about one HTTP request.
type call struct {
	id       string // a ULID
	begun    time.Time
	endpoint string // one of a few words, for metrics
	tenant   string
	model    string // resolved, or ""
	outcome  string // how a chat ended, or ""
	caller   caller
}

type callKey struct{}

// callOf returns the call of a request that passed through identified.
func callOf(r *http.Request) *call {
	if c, ok := r.Context().Value(callKey{}).(*call); ok {
		return c
	}
	return &call{begun: time.Now(), endpoint: "other"}
}

// identified gives each request an id and tells it to the client, and bounds
// the time for its body.
func (g *Gateway) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := time.Now()
		c := &call{id: newID(now), begun: now, endpoint: "other"}
		w.Header().Set("X-Request-Id", requestID(c.id))
		// For the whole body, also one that nobody wants to read. Writing has
		// a deadline per write; forget the last of the request before.
		rc := http.NewResponseController(w)
		_ = rc.SetReadDeadline(now.Add(g.pace.body))
		_ = rc.SetWriteDeadline(time.Time{})
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callKey{}, c)))
	})
}

// requestID is the id of a request on the bus and in the client's headers.
func requestID(id string) string { return "req_" + id }

func named(endpoint string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		callOf(r).endpoint = endpoint
		next.ServeHTTP(w, r)
	})
}

// observed counts and logs each request when it has ended.
func (g *Gateway) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r)
		seen := &statusWriter{ResponseWriter: w}
		g.metrics.inFlight.Inc()
		defer func() {
			g.metrics.inFlight.Dec()
			took := time.Since(c.begun)
			g.metrics.request(c.endpoint, seen.code(), took)
			g.log.Info("request", "request", requestID(c.id), "method", r.Method, "endpoint", c.endpoint,
				"status", seen.code(), "outcome", c.outcome, "tenant", c.tenant, "model", c.model, "took", took)
		}()
		next.ServeHTTP(seen, r)
	})
}

// recovered answers a panic with 500, or cuts the connection if the answer has
// begun, so that it cannot be taken for a whole one.
func (g *Gateway) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if cause == http.ErrAbortHandler { //nolint:errorlint // it is compared as net/http does
				panic(cause)
			}
			g.log.Error("a handler panicked", "request", requestID(callOf(r).id), "panic", cause, "stack", string(debug.Stack()))
			if s, ok := w.(*statusWriter); ok && s.status != 0 {
				panic(http.ErrAbortHandler)
			}
			refuse(w, errInternal())
		}()
		next.ServeHTTP(w, r)
	})
}

// statusWriter remembers the status. Flushing and deadlines reach the writer
// below by Unwrap, through http.ResponseController.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (s *statusWriter) WriteHeader(status int) {
	if s.status == 0 {
		s.status = status
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *statusWriter) Write(b []byte) (int, error) {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	return s.ResponseWriter.Write(b)
}

func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// code is the status that was sent; 499 means that the client left before.
func (s *statusWriter) code() int {
	if s.status == 0 {
		return statusClientGone
	}
	return s.status
}

// statusClientGone is what nginx logs for clients that did not wait.
const statusClientGone = 499
