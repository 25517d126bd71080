package gateway

import (
	"context"
	"crypto/rand"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/gorizond/koldun/internal/queue"
	"github.com/gorizond/koldun/internal/telemetry"
)

// trace goes on with the trace of the client, or begins one. Also without
// anybody who collects spans a request has a trace, so that the logs of all
// parts can be put together by it. The span belongs to the call.
func (g *Gateway) trace(r *http.Request, c *call) context.Context {
	ctx := telemetry.Continue(r.Context(), r.Header.Get("Traceparent"))
	ctx, c.span = g.cfg.Tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
	if !c.span.SpanContext().IsValid() {
		c.traceparent = telemetry.Traceparent(trace.ContextWithRemoteSpanContext(ctx, newTrace()))
		return r.Context()
	}
	c.traceparent = telemetry.Traceparent(ctx)
	if !c.span.IsRecording() {
		return r.Context() // nobody below asks for it
	}
	return ctx
}

// newTrace is a trace that nobody has begun. It is marked as sampled: whoever
// can record it shall.
func newTrace() trace.SpanContext {
	var t trace.TraceID
	var s trace.SpanID
	_, _ = rand.Read(t[:]) // never fails since Go 1.24
	_, _ = rand.Read(s[:])
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: t, SpanID: s, TraceFlags: trace.FlagsSampled})
}

// describe tells the span what became of the request, and ends it.
func describe(c *call) {
	span := c.span
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.String("koldun.request.id", requestID(c.id)),
		attribute.String("koldun.endpoint", c.endpoint),
		attribute.Int("http.response.status_code", c.status),
	)
	if c.model == "" {
		return
	}
	span.SetName(telemetry.ChatSpan(c.model))
	span.SetAttributes(
		telemetry.AttrOperation.String(c.operation),
		telemetry.AttrProvider.String(telemetry.Provider),
		telemetry.AttrRequestModel.String(c.model),
		attribute.String("koldun.outcome", c.outcome),
	)
	if c.usage != nil {
		span.SetAttributes(telemetry.AttrInputTokens.Int(c.usage.PromptTokens), telemetry.AttrOutputTokens.Int(c.usage.CompletionTokens))
	}
	if c.outcome != string(queue.Completed) && c.outcome != "" {
		telemetry.Fail(span, c.outcome, "the request did not complete")
	}
}

// traceID is the part of a traceparent by which logs are put together.
func traceID(traceparent string) string {
	const begin, end = 3, 35 // 00-TRACE-SPAN-FLAGS
	if len(traceparent) < end {
		return ""
	}
	return traceparent[begin:end]
}
