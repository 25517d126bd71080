package gateway

import (
	"context"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/telemetry"
)

// An operation says how requests for one operation are decoded and how answers
// to them are encoded.
type operation struct {
	label    string // in metrics and spans, as OpenTelemetry names the operation
	idPrefix string // of the answer's id
	// decode reads and validates a request. Its errors are *openai.Error.
	decode func(ctx context.Context, body []byte) (openai.Request, error)
	stream func(openai.StreamOptions) chunks // begins a streamed answer
	whole  func(answer) any                  // returns the answer in one piece
	// several returns an answer of several choices; nil if requests have always one.
	several func([]answer) any
	// reasoning says where answers show the thoughts of the model.
	reasoning reasoningField
}

// A reasoningField is the place that answers have for thoughts.
type reasoningField int

const (
	reasoningInText  reasoningField = iota // none but the text
	reasoningContent                       // the field reasoning_content
)

// chunks encode the events of one streamed answer. Each method appends one
// event to b, or nothing.
type chunks interface {
	Role(b []byte) []byte
	Text(b []byte, text string) []byte
	Reasoning(b []byte, thoughts string) []byte
	// Parts appends text and what belongs to it, but for thoughts.
	Parts(b []byte, text string, p *openai.Parts) []byte
	Finish(b []byte, reason string) []byte
	Usage(b []byte, u openai.Usage) []byte
	Done(b []byte) []byte
	// Fail is the event that ends the answer instead.
	Fail(b []byte, e *openai.Error) []byte
}

// An answer is a complete one.
type answer struct {
	index          int // of the choice
	id, model      string
	created        int64 // Unix time in seconds
	thoughts, text string
	parts          openai.Parts // but for thoughts
	finish         string
	usage          *openai.Usage
	base64         bool // embeddings
}

// alone is a decode that needs nothing but the body.
func alone(decode func([]byte) (openai.Request, error)) func(context.Context, []byte) (openai.Request, error) {
	return func(_ context.Context, body []byte) (openai.Request, error) { return decode(body) }
}

func chatOperation() operation {
	return operation{
		label: telemetry.OperationChat, idPrefix: "chatcmpl-", decode: alone(openai.DecodeChat), reasoning: reasoningContent,
		stream: func(o openai.StreamOptions) chunks { return openai.NewStream(o) },
		whole:  func(a answer) any { return chatAnswer(a) },
		several: func(all []answer) any {
			c := chatAnswer(all[0])
			for _, a := range all[1:] {
				c.Choices = append(c.Choices, chatAnswer(a).Choices...)
			}
			c.Usage = usageOfAll(all)
			return c
		},
	}
}

func chatAnswer(a answer) openai.ChatCompletion {
	c := openai.NewCompletion(a.id, a.model, a.created, a.text, a.finish, a.usage)
	c.Choices[0].Index, c.Choices[0].Message.ReasoningContent = a.index, a.thoughts
	c.Choices[0].SetParts(&a.parts)
	return c
}

func usageOfAll(all []answer) *openai.Usage {
	usages := make([]*openai.Usage, len(all))
	for i, a := range all {
		usages[i] = a.usage
	}
	return openai.SumUsage(usages)
}

func completionOperation() operation {
	return operation{
		label: telemetry.OperationTextCompletion, idPrefix: "cmpl-", decode: alone(openai.DecodeCompletion),
		stream: func(o openai.StreamOptions) chunks { return openai.NewTextStream(o) },
		whole:  func(a answer) any { return textAnswer(a) },
		several: func(all []answer) any {
			c := textAnswer(all[0])
			for _, a := range all[1:] {
				c.Choices = append(c.Choices, textAnswer(a).Choices...)
			}
			c.Usage = usageOfAll(all)
			return c
		},
	}
}

func textAnswer(a answer) openai.Completion {
	c := openai.NewText(a.id, a.model, a.created, a.text, a.finish, a.usage)
	c.Choices[0].Index = a.index
	c.Choices[0].SetParts(&a.parts)
	return c
}

// embeddingOperation has no stream: no request for embeddings asks for one.
func embeddingOperation() operation {
	return operation{
		label: telemetry.OperationEmbeddings, decode: alone(openai.DecodeEmbedding),
		whole: func(a answer) any { return openai.NewEmbeddings(a.model, a.parts.Embeddings, a.base64, a.usage) },
	}
}
