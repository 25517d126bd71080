package responses

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/openai"
)

const weather = `{"type":"namespace","name":"mcp__weather","description":"d","tools":[{"type":"function","name":"get_weather","parameters":{"type":"object"}}]}`

// TestParseLeavesOut holds that a part which is only offered, or which a history repeats,
// refuses no request: the rest is answered, and the part is named.
func TestParseLeavesOut(t *testing.T) {
	const image = `{"type":"input_image","image_url":"data:image/png;base64,AA=="}`
	for name, c := range map[string]struct {
		body    string
		leftOut []string
		want    string // in the chat
		not     string // in the chat
	}{
		"HostedTool":  {`"input":"hi","tools":[{"type":"function","name":"shell"},{"type":"web_search"}]`, []string{"web_search"}, `"shell"`, "web_search"},
		"HostedOnly":  {`"input":"hi","tools":[{"type":"web_search"},{"type":"web_search"}],"tool_choice":"auto"`, []string{"web_search"}, "hi", "tool"},
		"InNamespace": {`"input":"hi","tools":[{"type":"namespace","name":"n","tools":[{"type":"custom","name":"c"},{"type":"function","name":"f"}]}]`, []string{"custom"}, `"n__f"`, "custom"},
		"Allowed":     {`"input":"hi","tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"allowed_tools","tools":[{"type":"function","name":"f"},{"type":"mcp","server_label":"l"}]}`, []string{"mcp"}, `"f"`, "mcp"},
		"ImageOfTool": {
			`"input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"view","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[` + image + `]}]`,
			[]string{"input_image"}, "[an image was left out", "AA==",
		},
		"ImageBefore": {
			`"input":[{"role":"user","content":[` + image + `]},{"role":"user","content":"hi"}]`,
			[]string{"input_image"}, "[an image was left out", "AA==",
		},
		"ForeignItems": {
			`"input":[{"type":"web_search_call","id":"w"},{"type":"mcp_list_tools","id":"l"},{"type":"local_shell_call","call_id":"s"},{"type":"local_shell_call_output","call_id":"s","output":"o"},{"role":"user","content":"hi"}]`,
			[]string{"local_shell_call", "local_shell_call_output", "mcp_list_tools", "web_search_call"}, "hi", "search",
		},
		"FileOfTool": {
			`"input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"view","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_file","file_id":"x"}]}]`,
			[]string{"input_file"}, "[a file was left out", "input_file",
		},
		"ImageBehindTool": {
			`"input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"view","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"see"},{"role":"user","content":[` + image + `]}]`,
			[]string{"input_image"}, "[an image was left out", "AA==",
		},
		"ForeignCallOfFunction": {
			`"input":[{"role":"user","content":"hi"},{"type":"local_shell_call","call_id":"s"},{"type":"function_call_output","call_id":"s","output":"o"},{"type":"tool_search_call","call_id":"t"},{"type":"tool_search_output","call_id":"t","tools":[]}]`,
			[]string{"local_shell_call", "tool_search_call", "tool_search_output"}, "hi", "tool",
		},
		"StrangeKind": {`"input":"hi","tools":[{"type":"web.search"}]`, []string{"tools"}, "hi", "web"},
		"TwiceTheSame": {
			`"input":"hi","tools":[{"type":"function","name":"f"},{"type":"function","name":"f"},` + weather + `,` + weather + `]`,
			nil, `"tools":[{"function":{"name":"f"},"type":"function"},{"function":{"name":"mcp__weather__get_weather","parameters":{"type":"object"}},"type":"function"}]`, "twice",
		},
		"TwiceAndOther": {`"input":"hi","tools":[{"type":"function","name":"f"},{"type":"function","name":"f","description":"other"}]`, []string{"function"}, `"f"`, "other"},
		"CustomCall": {
			`"input":[{"role":"user","content":"a"},{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"*** \"x\""},{"type":"custom_tool_call_output","call_id":"c","output":"done"}]`,
			nil, `{\"input\":\"*** \\\"x\\\"\"}`, "custom",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Parse([]byte(`{"model":"m",` + c.body + "}"))
			if err != nil {
				t.Fatal(err)
			}
			chat, err := r.Chat(r.Input)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(chat.LeftOut, c.leftOut) {
				t.Errorf("left out are %q, want %q", chat.LeftOut, c.leftOut)
			}
			wire, err := chat.MarshalJSON()
			if err != nil || !strings.Contains(string(wire), c.want) || strings.Contains(string(wire), c.not) {
				t.Errorf("%v: the chat is %s, want %q and no %q", err, wire, c.want, c.not)
			}
		})
	}
}

// TestNamespaces holds that the model sees a function of a group by one name, and the
// client by two: in the answer, in its history, and in what it demands.
func TestNamespaces(t *testing.T) {
	long := strings.Repeat("x", 60)
	for name, c := range map[string]struct{ namespace, function, inChats string }{
		"Short":  {"mcp__weather", "get_weather", "mcp__weather__get_weather"},
		"Joined": {"mcp__weather__", "get", "mcp__weather__get"},
		"Long":   {"mcp__" + long, "get_weather", "mcp__" + long[:50] + "_" + (functionName{"mcp__" + long, "get_weather"}).inChats()[56:]},
		"Dots":   {"github.com", "get.it", "github_com__get_it_" + (functionName{"github.com", "get.it"}).inChats()[19:]},
	} {
		t.Run(name, func(t *testing.T) {
			call := `{"type":"function_call","call_id":"c","namespace":"` + c.namespace + `","name":"` + c.function + `","arguments":"{}"}`
			r, err := Parse([]byte(`{"model":"m","input":[{"role":"user","content":"a"},` + call + `,{"type":"function_call_output","call_id":"c","output":"1"}],` +
				`"tools":[{"type":"function","name":"plain"},{"type":"namespace","name":"` + c.namespace + `","tools":[{"type":"function","name":"` + c.function + `"}]}],` +
				`"tool_choice":{"type":"function","namespace":"` + c.namespace + `","name":"` + c.function + `"}}`))
			if err != nil {
				t.Fatal(err)
			}
			chat, err := r.Chat(r.Input)
			if err != nil {
				t.Fatal(err)
			}
			if !isFunctionName(c.inChats) {
				t.Fatalf("%q is no name of a function", c.inChats)
			}
			wire, _ := chat.MarshalJSON()
			if got := strings.Count(string(wire), `"name":"`+c.inChats+`"`); got != 3 {
				t.Errorf("the name is %d times in %s", got, wire)
			}
			parts := &openai.Parts{ToolCalls: []openai.ToolCall{{Index: 0, ID: "c2", Function: openai.ToolFunction{Name: c.inChats, Arguments: "{}"}}}}
			response := NewResponse(r, testOptions(), "", "", parts, "tool_calls", nil)
			var item struct{ Type, Namespace, Name string }
			if err := json.Unmarshal(response.Output[0], &item); err != nil || item.Type != KindCall || item.Namespace != c.namespace || item.Name != c.function {
				t.Errorf("%v: the item is %s", err, response.Output[0])
			}
			if shown, _ := json.Marshal(response.Tools); !strings.Contains(string(shown), `"type":"namespace"`) {
				t.Errorf("the response shows %s", shown)
			}
		})
	}
}

// TestNamespaceNames holds that names which differ in what a short name leaves out differ.
func TestNamespaceNames(t *testing.T) {
	long := strings.Repeat("x", 80)
	seen := map[string]functionName{}
	for _, f := range []functionName{{long, "a"}, {long, "b"}, {"n.s", "a"}, {"n_s", "a"}, {"n", "s.a"}, {"", "n_s__a"}, {"ns", "é"}} {
		if before, ok := seen[f.inChats()]; ok && before.namespace+before.name != "n_s__a" && f.namespace+f.name != "n_s__a" {
			t.Errorf("%+v and %+v are both %s", before, f, f.inChats())
		}
		seen[f.inChats()] = f
	}
}

// TestNamesOfToolsDiffer holds that the model sees no two functions by one name, and that
// the client gets back the one that the model means.
func TestNamesOfToolsDiffer(t *testing.T) {
	r, err := Parse([]byte(`{"model":"m","input":"a","tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]},` +
		`{"type":"namespace","name":"n__","tools":[{"type":"function","name":"f"}]},{"type":"function","name":"n__f"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range []functionName{{"", "n__f"}, {"n", "f"}, {"n__", "f"}} {
		name := r.nameOf(f)
		if seen[name] || !isFunctionName(name) || r.called(name) != f {
			t.Errorf("%+v is %q, which calls %+v", f, name, r.called(name))
		}
		seen[name] = true
	}
	if !seen["n__f"] || r.called("other") != (functionName{name: "other"}) {
		t.Errorf("the names are %v", seen)
	}
}

// TestSummary holds that who asks for a summary of the thoughts gets them under that name,
// too, as clients of OpenAI show nothing else.
func TestSummary(t *testing.T) {
	for asked, body := range map[bool]string{true: `,"reasoning":{"summary":"auto"}`, false: ``} {
		r, err := Parse([]byte(`{"model":"m","input":"a","tools":[` + weather + `]` + body + `}`))
		if err != nil {
			t.Fatal(err)
		}
		s := NewStream(r, testOptions())
		b := s.Reasoning(s.Reasoning(s.Role(nil), "think "), "hard")
		b = s.Done(s.Finish(s.Text(b, "answer"), "stop"))
		if got := strings.Count(string(b), "event: response.reasoning_text.delta"); got != 2 {
			t.Errorf("%d deltas of thoughts in %s", got, b)
		}
		want := map[bool][]string{true: {
			"reasoning_summary_part.added", "reasoning_summary_text.delta", "reasoning_summary_text.delta", "reasoning_summary_text.done", "reasoning_summary_part.done",
		}}[asked]
		var got []string
		for line := range strings.Lines(string(b)) {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), "event: response."); ok && strings.Contains(name, "summary") {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("asked: %t, events are %q", asked, got)
		}
		var item struct{ Summary, Content []struct{ Type, Text string } }
		if err := json.Unmarshal(s.Response().Output[0], &item); err != nil || item.Content[0].Text != "think hard" {
			t.Fatalf("%v: the item is %s", err, s.Response().Output[0])
		}
		if asked != (len(item.Summary) == 1 && item.Summary[0].Type == "summary_text" && item.Summary[0].Text == "think hard") {
			t.Errorf("asked: %t, the item is %s", asked, s.Response().Output[0])
		}
	}
}
