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
	// open means that the text so far ends within thoughts that the engine has
	// separated, and that the client wants in the text.
	open bool
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

func (f *reasoningFilter) push(piece string) (thoughts, text string) {
	if f.thoughts == nil {
		return "", f.close(piece)
	}
	return f.visible(f.thoughts.Push(piece))
}

// pushParts is push for a piece whose thoughts, if any, the engine has separated.
// It takes them out of the parts.
func (f *reasoningFilter) pushParts(piece string, parts *openai.Parts) (thoughts, text string) {
	separated := parts.Reasoning
	parts.Reasoning = ""
	switch {
	case separated == "":
	case f.thoughts == nil: // the text shows them with the usual tags
		if !f.open {
			separated = "<think>\n" + separated
		}
		f.open = true
	default:
		thoughts, _ = f.visible(separated, "")
		separated = ""
	}
	if piece == "" && len(parts.ToolCalls) == 0 {
		return thoughts, separated
	}
	more, text := f.push(piece)
	return thoughts + more, separated + text
}

// misplaced reports, once, that the text before the last piece was thoughts.
func (f *reasoningFilter) misplaced() bool { return f.thoughts != nil && f.thoughts.Misplaced() }

// close ends thoughts in the text before other text.
func (f *reasoningFilter) close(text string) string {
	if !f.open {
		return text
	}
	f.open = false
	return "\n</think>\n\n" + text
}

// rest returns what the filter held back, at the end of the answer.
func (f *reasoningFilter) rest() (thoughts, text string) {
	if f.thoughts == nil {
		return "", f.close("")
	}
	return f.visible(f.thoughts.Rest())
}

func (f *reasoningFilter) visible(thoughts, text string) (string, string) {
	if f.mode == openai.ReasoningHidden {
		return "", text
	}
	return thoughts, text
}
