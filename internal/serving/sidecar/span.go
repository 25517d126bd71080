package sidecar

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/telemetry"
)

// startSpan starts the span of an attempt in the trace of its request. The caller ends
// it.
func startSpan(a *attempt, cfg *Config) (context.Context, trace.Span) {
	req := a.assignment.Request
	return cfg.Tracer.Start(telemetry.Continue(a.ctx, req.Traceparent), telemetry.ChatSpan(req.Model),
		trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(a.started), trace.WithAttributes(
			telemetry.AttrOperation.String(telemetry.OperationChat),
			telemetry.AttrProvider.String(telemetry.Provider),
			telemetry.AttrRequestModel.String(req.Model),
			telemetry.AttrResponseID.String(req.ID),
			attribute.Int("koldun.attempt", a.assignment.Attempt),
			attribute.String("koldun.runner", cfg.Runner),
		))
}

// describe adds the parameters of the request, without text.
func describe(span trace.Span, r openai.Request) {
	if !span.IsRecording() {
		return
	}
	if r.MaxTokens > 0 {
		span.SetAttributes(telemetry.AttrMaxTokens.Int(r.MaxTokens))
	}
	if r.Sampling.Temperature != nil {
		span.SetAttributes(telemetry.AttrTemperature.Float64(*r.Sampling.Temperature))
	}
	if r.Sampling.TopP != nil {
		span.SetAttributes(telemetry.AttrTopP.Float64(*r.Sampling.TopP))
	}
	if r.Sampling.Seed != nil {
		span.SetAttributes(telemetry.AttrSeed.Int64(*r.Sampling.Seed))
	}
}

// annotate adds the result.
func annotate(span trace.Span, end queue.AttemptEnd) {
	span.SetAttributes(
		telemetry.AttrInputTokens.Int(end.Usage.PromptTokens),
		telemetry.AttrOutputTokens.Int(end.Usage.CompletionTokens))
	if end.Error != nil {
		telemetry.Fail(span, end.Error.Code, end.Error.Message)
		return
	}
	span.SetAttributes(telemetry.AttrFinishReasons.StringSlice([]string{end.FinishReason}))
}
