package openai

import (
	"encoding/json"
	"slices"
)

// refuseUnsupported fails on parameters that would change the meaning of the
// answer and that no engine supports. Neutral values pass.
func refuseUnsupported(f *fields) {
	if raw := f.take("functions"); raw != nil && !isEmpty(raw) {
		f.fail("functions", CodeUnsupported, "%s is not supported here: use 'tools'")
	}
	if raw := f.take("function_call"); raw != nil && !isWord(raw, "none", "auto") {
		f.fail("function_call", CodeUnsupported, "%s is not supported here: use 'tool_choice'")
	}
	for _, raw := range f.items("modalities", f.array("modalities"), maxWords) {
		kind, ok := unquote(raw)
		if !ok {
			f.wrongType("modalities", "an array of strings", raw)
		}
		if kind != "text" {
			f.fail("modalities", CodeUnsupportedValue, "%s can only hold 'text' here")
		}
	}
	for _, name := range []string{"audio", "web_search_options"} {
		if f.take(name) != nil {
			f.fail(name, CodeUnsupported, "%s is not supported here")
		}
	}
}

// parseHints collects the sampling hints whose value is not neutral.
func parseHints(f *fields, r *ChatRequest) {
	for _, name := range []string{HintFrequencyPenalty, HintPresencePenalty} {
		raw := f.m[name]
		if x, ok := f.number(name, -2, 2); ok && x != 0 {
			r.Hints[name] = raw
		}
	}
	if raw := f.take(HintLogitBias); raw != nil {
		if kindOf(raw) != "an object" {
			f.wrongType(HintLogitBias, "an object", raw)
		}
		if !isEmpty(raw) {
			r.Hints[HintLogitBias] = raw
		}
	}
	for _, name := range []string{"reasoning_effort", "verbosity"} {
		raw := f.m[name]
		if _, ok := f.text(name); ok {
			r.Hints[name] = raw
		}
	}
	if raw := f.take("prediction"); raw != nil {
		r.Hints["prediction"] = raw
	}
}

func isWord(raw json.RawMessage, words ...string) bool {
	s, ok := unquote(raw)
	return ok && slices.Contains(words, s)
}
