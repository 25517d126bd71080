package openai

import "strings"

// A Reasoning says how the thoughts are shown that a model writes between
// <think> and </think> before its answer.
type Reasoning string

// The ways to show thoughts. A request chooses by the parameters that other
// servers of open models know: separate_reasoning (SGLang) and
// include_reasoning (vLLM).
const (
	ReasoningUnset    Reasoning = ""         // the server decides
	ReasoningSeparate Reasoning = "separate" // as reasoning_content, beside the content
	ReasoningInline   Reasoning = "inline"   // in the content, tags and all
	ReasoningHidden   Reasoning = "hidden"   // not at all
)

func parseReasoning(f *fields, r *ChatRequest) {
	if f.has("separate_reasoning") {
		r.Reasoning = ReasoningInline
		if f.boolean("separate_reasoning") {
			r.Reasoning = ReasoningSeparate
		}
	}
	if f.has("include_reasoning") {
		switch {
		case !f.boolean("include_reasoning"):
			r.Reasoning = ReasoningHidden
		case r.Reasoning == ReasoningUnset:
			r.Reasoning = ReasoningSeparate
		}
	}
}

// wire writes the parameter that parseReasoning reads back.
func (r Reasoning) wire(out map[string]any) {
	switch r {
	case ReasoningSeparate, ReasoningInline:
		out["separate_reasoning"] = r == ReasoningSeparate
	case ReasoningHidden:
		out["include_reasoning"] = false
	case ReasoningUnset:
	}
}

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// A ThinkFilter separates thoughts from the answer, piece by piece. Thoughts are
// only those at the very start; the tags and the line ends next to them belong
// to neither side. The zero value is ready.
type ThinkFilter struct {
	phase thinkPhase
	held  string // may be the beginning of a tag
}

type thinkPhase int

const (
	undecided   thinkPhase = iota // nothing but space, or the beginning of the opening tag
	enterThink                    // after the opening tag: line ends are dropped
	thinking                      //
	enterAnswer                   // after the closing tag: line ends are dropped
	answering                     //
)

// Push takes the next piece of text. It returns the text that is certain to be
// thoughts or answer, of this piece and of what it held back before.
func (t *ThinkFilter) Push(text string) (thoughts, answer string) {
	if t.phase == answering {
		return "", text
	}
	text, t.held = t.held+text, ""
	if t.phase == undecided {
		bare := strings.TrimLeft(text, " \t\r\n")
		switch {
		case strings.HasPrefix(bare, thinkOpen):
			t.phase, text = enterThink, bare[len(thinkOpen):]
		case strings.HasPrefix(thinkOpen, bare):
			t.held = text
			return "", ""
		default:
			t.phase = answering
			return "", text
		}
	}
	text = t.skipLineEnds(text)
	if t.phase == thinking {
		before, after, closed := strings.Cut(text, thinkClose)
		if !closed {
			keep := len(text) - tagBegins(text)
			t.held = text[keep:]
			return text[:keep], ""
		}
		t.phase = enterAnswer
		thoughts, text = before, t.skipLineEnds(after)
	}
	return thoughts, text
}

// Rest returns the text that is held back, once the whole text has come.
func (t *ThinkFilter) Rest() (thoughts, answer string) {
	held := t.held
	t.held = ""
	if t.phase == thinking {
		return held, ""
	}
	return "", held
}

func (t *ThinkFilter) skipLineEnds(text string) string {
	if t.phase != enterThink && t.phase != enterAnswer {
		return text
	}
	if text = strings.TrimLeft(text, "\r\n"); text != "" {
		t.phase++
	}
	return text
}

// tagBegins returns the length of the longest end of text that the closing tag
// begins with.
func tagBegins(text string) int {
	for n := min(len(text), len(thinkClose)-1); n > 0; n-- {
		if strings.HasSuffix(text, thinkClose[:n]) {
			return n
		}
	}
	return 0
}
