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

// beginTrace continues the trace of the client, or begins one, and starts the span of
// the call, which its context carries. A request has a trace even if no spans are
// exported, because the logs of all processes name it.
func beginTrace(tracer trace.Tracer, r *http.Request) (ctx context.Context, span trace.Span, traceparent string) {
	ctx = telemetry.Continue(r.Context(), r.Header.Get("Traceparent"))
	ctx, span = tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
	if !span.SpanContext().IsValid() {
		return r.Context(), span, telemetry.Traceparent(trace.ContextWithRemoteSpanContext(ctx, newTrace()))
	}
	if !span.IsRecording() {
		return r.Context(), span, telemetry.Traceparent(ctx) // without a span: no callee would use it
	}
	return ctx, span, telemetry.Traceparent(ctx)
}

// A summary is what is logged and traced of a request for a generation. The
// zero value is that of any other request.
type summary struct {
	operation string // as OpenTelemetry names it
	model     string // resolved, or ""
	outcome   string // how it ended, or ""
	usage     *queue.Usage
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

// endSpan ends the span of a call by its id, after it has set the attributes from the
// result.
func endSpan(span trace.Span, id, endpoint string, s summary, status int) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.String("koldun.request.id", requestID(id)),
		attribute.String("koldun.endpoint", endpoint),
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
