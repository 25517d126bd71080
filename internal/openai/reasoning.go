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
//
// The template of some models ends with the opening tag, so that the answer of a server
// which does not know has the closing tag alone, on a line of its own: all before it are
// thoughts, see Misplaced.
type ThinkFilter struct {
	phase     thinkPhase
	held      string // may be the beginning of a tag
	inLine    bool   // the text so far ends within a line
	misplaced bool
}

// Misplaced reports, once, that the answer which came before the last Push was thoughts.
func (t *ThinkFilter) Misplaced() bool {
	was := t.misplaced
	t.misplaced = false
	return was
}

type thinkPhase int

const (
	undecided   thinkPhase = iota // nothing but space, or the beginning of the opening tag
	enterThink                    // after the opening tag: line ends are dropped
	thinking                      //
	enterAnswer                   // after the closing tag: line ends are dropped
	answering                     // thoughts came before
	bare                          // an answer without an opening tag
)

// Push takes the next piece of text. It returns the text that is certain to be
// thoughts or answer, of this piece and of what it held back before.
func (t *ThinkFilter) Push(text string) (thoughts, answer string) {
	if t.phase == answering {
		return "", text
	}
	text, t.held = t.held+text, ""
	if t.phase == undecided {
		begin := strings.TrimLeft(text, " \t\r\n")
		switch {
		case strings.HasPrefix(begin, thinkOpen):
			t.phase, text = enterThink, begin[len(thinkOpen):]
		case strings.HasPrefix(thinkOpen, begin):
			t.held = text
			return "", ""
		default:
			t.phase = bare
		}
	}
	if t.phase == bare {
		return t.pushBare(text)
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

// pushBare looks for a closing tag that begins a line, and for what may become one.
func (t *ThinkFilter) pushBare(text string) (thoughts, answer string) {
	for at := 0; ; {
		i := strings.Index(text[at:], thinkClose)
		if i < 0 {
			break
		}
		if i += at; t.beginsLine(text, i) {
			t.phase, t.misplaced = enterAnswer, true
			return text[:i], t.skipLineEnds(text[i+len(thinkClose):])
		}
		at = i + len(thinkClose)
	}
	if keep := len(text) - tagBegins(text); t.beginsLine(text, keep) {
		text, t.held = text[:keep], text[keep:]
	}
	if text != "" {
		t.inLine = !strings.HasSuffix(text, "\n")
	}
	return "", text
}

// beginsLine reports whether a line begins at a byte of the text that comes next.
func (t *ThinkFilter) beginsLine(text string, at int) bool {
	if at == 0 {
		return !t.inLine
	}
	return text[at-1] == '\n'
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
