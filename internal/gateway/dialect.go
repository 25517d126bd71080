package gateway

import (
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/telemetry"
)

// A dialect is one of the ways to ask for text: what its requests look like,
// and its answers.
type dialect struct {
	operation string // as OpenTelemetry names it
	prefix    string // of an answer's id
	// parse reads and validates a request. Its errors are *openai.Error.
	parse func(body []byte) (openai.ChatRequest, error)
	// stream begins a streamed answer.
	stream func(id, model string, created int64, usage bool) chunks
	whole  func(answer) any // the answer in one piece
	// thoughts tells whether an answer has a place for thoughts beside its text.
	thoughts bool
}

// chunks encode the events of one streamed answer: each method appends one to
// b, or nothing.
type chunks interface {
	Role(b []byte) []byte
	Text(b []byte, text string) []byte
	Reasoning(b []byte, thoughts string) []byte
	Finish(b []byte, reason string) []byte
	Usage(b []byte, u openai.Usage) []byte
	Done(b []byte) []byte
}

// An answer is one that has ended.
type answer struct {
	id, model      string
	created        int64
	thoughts, text string
	finish         string
	usage          *openai.Usage
}

// chatDialect is that of /v1/chat/completions.
func chatDialect() dialect {
	return dialect{
		operation: telemetry.OperationChat, prefix: "chatcmpl-", parse: openai.ParseChat, thoughts: true,
		stream: func(id, model string, created int64, usage bool) chunks {
			return openai.NewStream(openai.StreamOptions{ID: id, Model: model, Created: created, IncludeUsage: usage})
		},
		whole: func(a answer) any {
			c := openai.NewCompletion(a.id, a.model, a.created, a.text, a.finish, a.usage)
			c.Choices[0].Message.ReasoningContent = a.thoughts
			return c
		},
	}
}

// completionDialect is that of /v1/completions.
func completionDialect() dialect {
	return dialect{
		operation: "text_completion", prefix: "cmpl-", parse: openai.ParseCompletion,
		stream: func(id, model string, created int64, usage bool) chunks {
			return openai.NewTextStream(openai.StreamOptions{ID: id, Model: model, Created: created, IncludeUsage: usage})
		},
		whole: func(a answer) any {
			return openai.NewText(a.id, a.model, a.created, a.text, a.finish, a.usage)
		},
	}
}
