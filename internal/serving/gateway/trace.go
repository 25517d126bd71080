package gateway

import (
	"context"
	"crypto/rand"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/telemetry"
)

// trace continues the trace of the client, or begins one, and starts the span of
// the call. A request has a trace even if no spans are exported, because the
// logs of all processes name it.
func (g *Gateway) trace(r *http.Request, c *call) context.Context {
	ctx := telemetry.Continue(r.Context(), r.Header.Get("Traceparent"))
	ctx, c.span = g.cfg.Tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
	if !c.span.SpanContext().IsValid() {
		c.traceparent = telemetry.Traceparent(trace.ContextWithRemoteSpanContext(ctx, newTrace()))
		return r.Context()
	}
	c.traceparent = telemetry.Traceparent(ctx)
	if !c.span.IsRecording() {
		return r.Context() // without a span: no callee would use it
	}
	return ctx
}

// newTrace returns a new trace. It is marked as sampled, so that processes that
// export spans record it.
func newTrace() trace.SpanContext {
	var t trace.TraceID
	var s trace.SpanID
	_, _ = rand.Read(t[:]) // never fails since Go 1.24
	_, _ = rand.Read(s[:])
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: t, SpanID: s, TraceFlags: trace.FlagsSampled})
}

// describe sets the attributes of the span from the result of the call, and ends
// the span.
func describe(c *call, s summary, status int) {
	span := c.span
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.String("koldun.request.id", requestID(c.id)),
		attribute.String("koldun.endpoint", c.endpoint),
		attribute.Int("http.response.status_code", status),
	)
	if s.model == "" {
		return
	}
	span.SetName(telemetry.ChatSpan(s.model))
	span.SetAttributes(
		telemetry.AttrOperation.String(s.operation),
		telemetry.AttrProvider.String(telemetry.Provider),
		telemetry.AttrRequestModel.String(s.model),
		attribute.String("koldun.outcome", s.outcome),
	)
	if s.usage != nil {
		span.SetAttributes(telemetry.AttrInputTokens.Int(s.usage.PromptTokens), telemetry.AttrOutputTokens.Int(s.usage.CompletionTokens))
	}
	if s.outcome != string(queue.Completed) && s.outcome != "" {
		telemetry.Fail(span, s.outcome, "the request did not complete")
	}
}

// traceID returns the trace id of a traceparent, which logs name.
func traceID(traceparent string) string {
	const begin, end = 3, 35 // 00-TRACE-SPAN-FLAGS
	if len(traceparent) < end {
		return ""
	}
	return traceparent[begin:end]
}
