package toolcall_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/model/toolcall"
)

// TestForcedCallsAreFound has the parser of each family find what its grammar
// allows.
func TestForcedCallsAreFound(t *testing.T) {
	tools, bad := toolcall.ParseTools([]byte(`[{"type":"function","function":{"name":"add","parameters":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}}},
		{"type":"function","function":{"name":"now"}}]`))
	if bad != nil {
		t.Fatal(bad)
	}
	add, now := `{"name": "add", "arguments": {"a": 3}}`, `{"name": "now", "arguments": {}}`
	answers := map[toolcall.Family][]string{
		toolcall.Hermes:  {"<tool_call>\n" + add + "\n</tool_call>", "<tool_call>\n" + add + "\n</tool_call>\n<tool_call>\n" + now + "\n</tool_call>"},
		toolcall.Llama:   {`{"name": "add", "parameters": {"a": 3}}`},
		toolcall.Mistral: {"[TOOL_CALLS] [" + add + ", " + now + "]", `[TOOL_CALLS][` + add + "]", `[TOOL_CALLS]add[ARGS]{"a": 3}`, `[TOOL_CALLS]add[ARGS]{"a": 3}[TOOL_CALLS]now[ARGS]{}`},
		toolcall.DeepSeek: {
			"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n{\"a\": 3}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
			"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{\"a\": 3}<｜tool▁call▁end｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		},
		toolcall.Granite: {"<|tool_call|>[" + add + "]"},
		toolcall.Phi:     {"functools[" + add + ", " + now + "]"},
		toolcall.Kimi:    {`<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{"a": 3}<|tool_call_end|><|tool_calls_section_end|>`},
		toolcall.Generic: {add, "[" + add + ", " + now + "]"},
	}
	for _, f := range toolcall.Families() {
		t.Run(string(f), func(t *testing.T) {
			g, err := f.Force(t.Context(), tools, false)
			if (err == nil) != f.Forces() || f.Forces() != (len(answers[f]) > 0) {
				t.Fatalf("forces: %t, err = %v", f.Forces(), err)
			}
			if err != nil {
				return
			}
			one, err := f.Force(t.Context(), tools, true)
			if err != nil {
				t.Fatal(err)
			}
			for _, answer := range answers[f] {
				parser := toolcall.NewParser(f, toolcall.Options{Tools: tools})
				text, arguments, calls := "", "", 0
				for _, p := range append(parser.Push(answer), parser.Rest()...) {
					text += p.Text
					for _, c := range p.Calls {
						if c.ID != "" {
							calls++
						}
						arguments += c.Function.Arguments
					}
				}
				two := strings.Contains(answer, "now")
				want := `{"a": 3}`
				if two {
					want += "{}"
				}
				if text != "" || arguments != want || (calls == 2) != two {
					t.Errorf("%s: the parser finds %d calls with %s, and the text %q", answer, calls, arguments, text)
				}
				if !g.Accepts(answer) || one.Accepts(answer) == two {
					t.Errorf("%s: accepted: %t, as the only call: %t", answer, g.Accepts(answer), one.Accepts(answer))
				}
				if wrong := strings.ReplaceAll(answer, "3", `"3"`); g.Accepts(wrong) {
					t.Errorf("%s is accepted", wrong)
				}
			}
		})
	}
}
