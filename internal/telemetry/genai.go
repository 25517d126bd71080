package telemetry

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Attributes of spans, as OpenTelemetry's semantic conventions for generative
// AI (1.37) name them. None of them ever holds text of a prompt or an answer.
const (
	AttrOperation     = attribute.Key("gen_ai.operation.name")
	AttrProvider      = attribute.Key("gen_ai.provider.name")
	AttrRequestModel  = attribute.Key("gen_ai.request.model")
	AttrMaxTokens     = attribute.Key("gen_ai.request.max_tokens")
	AttrTemperature   = attribute.Key("gen_ai.request.temperature")
	AttrTopP          = attribute.Key("gen_ai.request.top_p")
	AttrSeed          = attribute.Key("gen_ai.request.seed")
	AttrResponseID    = attribute.Key("gen_ai.response.id")
	AttrFinishReasons = attribute.Key("gen_ai.response.finish_reasons")
	AttrInputTokens   = attribute.Key("gen_ai.usage.input_tokens")
	AttrOutputTokens  = attribute.Key("gen_ai.usage.output_tokens")
	AttrErrorType     = attribute.Key("error.type")
)

// Values of AttrOperation and AttrProvider.
const (
	OperationChat           = "chat"
	OperationTextCompletion = "text_completion"
	OperationEmbeddings     = "embeddings"
	Provider                = "distributed-llama"
)

// EventFirstToken marks the first token in a span.
const EventFirstToken = "gen_ai.first_token"

// ChatSpan returns the name of the span of a chat with a model.
func ChatSpan(model string) string { return OperationChat + " " + model }

// Fail marks a span as failed. The code is stable and the message free of text
// that users wrote.
func Fail(span trace.Span, code, message string) {
	span.SetAttributes(AttrErrorType.String(code))
	span.SetStatus(codes.Error, message)
}
