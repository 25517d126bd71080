package gateway

import (
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
)

// ParseReasoning reads the value of a flag. "" is openai.ReasoningSeparate.
func ParseReasoning(word string) (openai.Reasoning, error) {
	switch r := openai.Reasoning(word); r {
	case openai.ReasoningUnset:
		return openai.ReasoningSeparate, nil
	case openai.ReasoningSeparate, openai.ReasoningInline, openai.ReasoningHidden:
		return r, nil
	}
	return "", fault.Errorf(fault.Invalid, "cannot show reasoning %q: it is none of separate, inline, hidden", word)
}

// A reasoningFilter separates the thoughts in an answer from its text, as the
// client wants them. The zero value takes all for text.
type reasoningFilter struct {
	thoughts *openai.ThinkFilter // nil: all is text
	mode     openai.Reasoning
}

// newReasoningFilter does what the request asks for, or else what the gateway
// does. Answers without a field for thoughts show everything as text.
func newReasoningFilter(field reasoningField, request, gateway openai.Reasoning) reasoningFilter {
	mode := request
	if mode == openai.ReasoningUnset {
		mode = gateway
	}
	if field == reasoningInText || mode == openai.ReasoningInline {
		return reasoningFilter{}
	}
	return reasoningFilter{thoughts: &openai.ThinkFilter{}, mode: mode}
}

func (f reasoningFilter) push(piece string) (thoughts, text string) {
	if f.thoughts == nil {
		return "", piece
	}
	return f.visible(f.thoughts.Push(piece))
}

// rest returns what the filter held back, at the end of the answer.
func (f reasoningFilter) rest() (thoughts, text string) {
	if f.thoughts == nil {
		return "", ""
	}
	return f.visible(f.thoughts.Rest())
}

func (f reasoningFilter) visible(thoughts, text string) (string, string) {
	if f.mode == openai.ReasoningHidden {
		return "", text
	}
	return thoughts, text
}
