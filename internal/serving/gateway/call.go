package gateway

import (
	"context"
	"net/http"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// A call is one HTTP request with what is counted, logged and traced of it.
// Only the methods of handler change it.
type call struct {
	incoming
	method   string
	endpoint string // label of the endpoint
	task     task   // nil: none
	span     trace.Span
}

// summary returns what is known of the task, if any.
func (c *call) summary() summary {
	if c.task == nil {
		return summary{}
	}
	return c.task.summary()
}

// begin gives a request its id and its trace, and bounds the time for its body.
// The context carries the span.
func (g *Gateway) begin(w http.ResponseWriter, r *http.Request) (*call, context.Context) {
	now := time.Now()
	c := &call{incoming: incoming{id: newID(now), begun: now}, endpoint: labelOther, method: r.Method}
	w.Header().Set(headerRequestID, requestID(c.id))
	// The deadline is for the whole body, also for one that no handler reads.
	// Each write sets a deadline of its own: the last one of the request before
	// on this connection must not remain.
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(now.Add(g.timing.body))
	_ = rc.SetWriteDeadline(time.Time{})
	g.metrics.inFlight.Inc()
	ctx, span, traceparent := beginTrace(g.cfg.Tracer, r)
	c.span, c.traceparent = span, traceparent
	return c, ctx
}

// end counts, logs and traces a request that has ended. ServeHTTP defers it.
// It answers a panic with 500, or cuts the connection if the answer has begun,
// so that no client takes a broken answer for a whole one.
func (g *Gateway) end(c *call, w *statusWriter) {
	cause := recover()
	cut := cause != nil && w.status != 0
	if cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // compared as net/http does
		g.log.Error("a handler panicked", "request", requestID(c.id), "panic", cause, "stack", string(debug.Stack()))
		if !cut {
			refuse(w, errInternal())
		}
	}
	g.metrics.inFlight.Dec()
	took := time.Since(c.begun)
	s, status := c.summary(), w.code()
	g.metrics.request(c.endpoint, status, took)
	g.log.Info("request", "request", requestID(c.id), "method", c.method, "endpoint", c.endpoint, "status", status,
		"outcome", s.outcome, "tenant", c.caller.tenant, "model", s.model, "ms", took.Milliseconds(), "trace", traceID(c.traceparent))
	endSpan(c.span, c.id, c.endpoint, s, status)
	if cut || cause == http.ErrAbortHandler { //nolint:errorlint // as above
		panic(http.ErrAbortHandler)
	}
}
