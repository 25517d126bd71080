package gateway

import (
	"context"
	"net/http"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/gorizond/koldun/internal/queue"
)

// A call is what the parts of the chain know about one HTTP request.
type call struct {
	id       string // see newID
	begun    time.Time
	endpoint string // one of a few words, for metrics
	tenant   string
	model    string // resolved, or ""
	outcome  string // how a request for text ended, or ""
	caller   caller

	method string
	task   *task // what is left to do

	span        trace.Span
	operation   string // of a request for text, as OpenTelemetry names it
	traceparent string
	status      int          // that was sent
	prompt      int64        // estimated tokens
	usage       *queue.Usage // as counted by the engine, or nil
	worked      bool         // an engine has started on it
	pieces      int          // of text that came
}

// tokens is how many tokens the request has used: as the engine has counted,
// or else the estimated prompt and one for each piece of text; none if no
// engine has worked on it.
func (c *call) tokens() int64 {
	switch {
	case c.usage != nil:
		return int64(c.usage.PromptTokens + c.usage.CompletionTokens)
	case c.worked:
		return c.prompt + int64(c.pieces)
	}
	return 0
}

type callKey struct{}

// callOf returns the call of a request that passed through around.
func callOf(r *http.Request) *call {
	if c, ok := r.Context().Value(callKey{}).(*call); ok {
		return c
	}
	return &call{begun: time.Now(), endpoint: "other"}
}

// around is what every request passes through: it gets an id and a trace, is
// counted and logged, and a panic in it harms nobody else. Once next has
// returned, around runs the task that next has left, if any. All of this is one
// function because its stack is that of every open stream.
func (g *Gateway) around(next http.Handler) http.Handler { return &outer{g, next} }

type outer struct {
	g    *Gateway
	next http.Handler
}

func (o *outer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, ctx := o.g.begin(w, r)
	seen := &statusWriter{ResponseWriter: w}
	defer o.g.end(c, seen)
	r = r.WithContext(ctx)
	o.next.ServeHTTP(seen, r)
	if c.task != nil {
		c.task.run(seen, r)
	}
}

// begin gives a request its id and its trace, and bounds the time for its body.
func (g *Gateway) begin(w http.ResponseWriter, r *http.Request) (*call, context.Context) {
	now := time.Now()
	c := &call{id: newID(now), begun: now, endpoint: "other", method: r.Method}
	w.Header().Set(headerRequestID, requestID(c.id))
	// For the whole body, also one that nobody wants to read. Writing has a
	// deadline per write; forget the last of the request before.
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(now.Add(g.pace.body))
	_ = rc.SetWriteDeadline(time.Time{})
	g.metrics.inFlight.Inc()
	return c, context.WithValue(g.trace(r, c), callKey{}, c)
}

// end settles a request that has ended. It is deferred. A panic is answered
// with 500, or cuts the connection if the answer has begun, so that it cannot
// be taken for a whole one.
func (g *Gateway) end(c *call, w *statusWriter) {
	cause := recover()
	cut := cause != nil && w.status != 0
	if cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // it is compared as net/http does
		g.log.Error("a handler panicked", "request", requestID(c.id), "panic", cause, "stack", string(debug.Stack()))
		if !cut {
			refuse(w, errInternal())
		}
	}
	g.metrics.inFlight.Dec()
	took := time.Since(c.begun)
	c.status = w.code()
	g.metrics.request(c.endpoint, c.status, took)
	g.log.Info("request", "request", requestID(c.id), "method", c.method, "endpoint", c.endpoint, "status", c.status,
		"outcome", c.outcome, "tenant", c.tenant, "model", c.model, "ms", took.Milliseconds(), "trace", traceID(c.traceparent))
	describe(c)
	if cut || cause == http.ErrAbortHandler { //nolint:errorlint // as above
		panic(http.ErrAbortHandler)
	}
}

// requestID is the id of a request on the bus and in the client's headers.
func requestID(id string) string { return "req_" + id }

func named(endpoint string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		callOf(r).endpoint = endpoint
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
