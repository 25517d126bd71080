package gateway

import (
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
)

// ParseReasoning reads the word of a flag. "" is openai.ReasoningSeparate.
func ParseReasoning(word string) (openai.Reasoning, error) {
	switch r := openai.Reasoning(word); r {
	case openai.ReasoningUnset:
		return openai.ReasoningSeparate, nil
	case openai.ReasoningSeparate, openai.ReasoningInline, openai.ReasoningHidden:
		return r, nil
	}
	return "", fault.Errorf(fault.Invalid, "cannot show reasoning %q: it is none of separate, inline, hidden", word)
}

// A sieve tells the thoughts in an answer from its text, as the client wants
// them.
type sieve struct {
	filter *openai.ThinkFilter // nil: all is text
	hidden bool
}

// newSieve chooses: the request first, then the gateway's own way. An answer
// that has no place for thoughts shows everything as text.
func newSieve(d dialect, asked, otherwise openai.Reasoning) sieve {
	if asked == openai.ReasoningUnset {
		asked = otherwise
	}
	if !d.thoughts || asked == openai.ReasoningInline {
		return sieve{}
	}
	return sieve{filter: &openai.ThinkFilter{}, hidden: asked == openai.ReasoningHidden}
}

func (s sieve) push(piece string) (thoughts, text string) {
	if s.filter == nil {
		return "", piece
	}
	return s.shown(s.filter.Push(piece))
}

// rest is what was held back when the answer has ended.
func (s sieve) rest() (thoughts, text string) {
	if s.filter == nil {
		return "", ""
	}
	return s.shown(s.filter.Rest())
}

func (s sieve) shown(thoughts, text string) (string, string) {
	if s.hidden {
		return "", text
	}
	return thoughts, text
}
