package toolcall_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/model/jinja/chat"
	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/openai"
)

func TestDetect(t *testing.T) {
	for template, want := range map[string]toolcall.Family{
		"{{ tools }}<tool_call>": toolcall.Hermes,
		"<tool_call>":            toolcall.Generic,
		"{{ tools }}":            toolcall.Generic,
		"{{ tools }}<tool_call><function=f><parameter=k>":            toolcall.QwenCoder,
		"{{ tools }}<tool_call><arg_key>":                            toolcall.GLM,
		"{{ tools }}<|start_header_id|>ipython":                      toolcall.Llama,
		"{{ tools }}<|start_header_id|>ipython [func_name1(p=1)]":    toolcall.Pythonic,
		"{{ tools }}[TOOL_CALLS]":                                    toolcall.Mistral,
		"{{ tools }}<｜tool▁calls▁begin｜>":                            toolcall.DeepSeek,
		"{{ tools }}<|tool_call|>":                                   toolcall.Granite,
		"{{ tools }}<|tool|>":                                        toolcall.Phi,
		"{{ tools }}<|tool_calls_section_begin|><|tool_call_begin|>": toolcall.Kimi,
	} {
		if got := toolcall.Detect(template); got != want {
			t.Errorf("%s is of %s, want %s", template, got, want)
		}
	}
}

const talk = `[{"role": "user", "content": "Weather?"},
	{"role": "assistant", "content": null, "tool_calls": [
		{"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"b\": 1, \"a\": \"ö\"}"}},
		{"id": "call_2", "type": "function", "function": {"name": "now", "arguments": ""}}]},
	{"role": "tool", "tool_call_id": "call_2", "content": "12:00"},
	{"role": "tool", "tool_call_id": "call_1", "content": "fine"},
	{"role": "assistant", "content": "Fine."}]`

func TestHistory(t *testing.T) {
	one := func(id string) chat.Call {
		return chat.Call{ID: id, Name: "get_weather", Arguments: json.RawMessage(`{"b": 1, "a": "ö"}`)}
	}
	two := func(id string) chat.Call {
		return chat.Call{ID: id, Name: "now", Arguments: json.RawMessage(`{}`)}
	}
	first, last := chat.Message{Role: "user", Content: "Weather?"}, chat.Message{Role: "assistant", Content: "Fine."}
	whole := func(a, b string) []chat.Message {
		return []chat.Message{first, {Role: "assistant", Calls: []chat.Call{one(a), two(b)}},
			{Role: "tool", Content: "12:00", CallID: b, Name: "now"}, {Role: "tool", Content: "fine", CallID: a, Name: "get_weather"}, last}
	}
	calls := `[{"name": "get_weather", "arguments": {"b": 1, "a": "ö"}}, {"name": "now", "arguments": {}}]`
	for family, want := range map[toolcall.Family][]chat.Message{
		toolcall.Hermes:  whole("call_1", "call_2"),
		toolcall.Kimi:    whole("functions.get_weather:0", "functions.now:1"),
		toolcall.Mistral: whole("SpNJKeyju", "rG01D6OQV"),
		toolcall.Llama: {first, {Role: "assistant", Calls: []chat.Call{one("call_1")}}, {Role: "tool", Content: "fine", CallID: "call_1", Name: "get_weather"},
			{Role: "assistant", Calls: []chat.Call{two("call_2")}}, {Role: "tool", Content: "12:00", CallID: "call_2", Name: "now"}, last},
		toolcall.Granite: {first, {Role: "assistant", Content: "<|tool_call|>" + calls},
			{Role: "tool", Content: "12:00", CallID: "call_2", Name: "now"}, {Role: "tool", Content: "fine", CallID: "call_1", Name: "get_weather"}, last},
		toolcall.Generic: {first, {Role: "assistant", Content: calls},
			{Role: "user", Content: "Result of now:\n12:00\n\nResult of get_weather:\nfine"}, last},
	} {
		t.Run(string(family), func(t *testing.T) {
			got, bad := toolcall.History(family, messages(t, talk))
			if bad != nil {
				t.Fatal(bad)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("the messages differ (-want +got):\n%s", d)
			}
		})
	}
}

func messages(tb testing.TB, raw string) []openai.Message {
	tb.Helper()
	request, err := openai.ParseChat([]byte(`{"model": "m", "messages": ` + raw + `}`))
	if err != nil {
		tb.Fatal(err)
	}
	return request.Messages
}

// TestHistoryOfBrokenCalls keeps arguments that are no JSON, as text.
func TestHistoryOfBrokenCalls(t *testing.T) {
	got, bad := toolcall.History(toolcall.Hermes, messages(t, `[{"role": "assistant", "content": "", "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": "{\"a\": oops"}}]}]`))
	if bad != nil {
		t.Fatal(bad)
	}
	if args := string(got[0].Calls[0].Arguments); args != `{"arguments": "{\"a\": oops"}` {
		t.Errorf("the arguments are %s", args)
	}
}

func TestHistoryRefusesCalls(t *testing.T) {
	for _, calls := range []string{`[{"id": "x"}]`, `[1]`, `[{"type": "custom", "function": {"name": "f"}}]`} {
		m := openai.Message{Role: openai.Assistant, ToolCalls: json.RawMessage(calls)}
		if _, bad := toolcall.History(toolcall.Hermes, []openai.Message{m}); bad == nil || bad.Status != 400 || !strings.HasPrefix(bad.Param, "messages[0].tool_calls") {
			t.Errorf("%s gives %v", calls, bad)
		}
	}
}

func TestInstruct(t *testing.T) {
	list := parseTools(t)
	for _, before := range [][]chat.Message{{{Role: "system", Content: "Be terse."}, {Role: "user", Content: "Hi"}}, {{Role: "user", Content: "Hi"}}} {
		got := toolcall.Instruct(before, list)
		if len(got) != 2 || got[0].Role != "system" || got[1].Content != "Hi" || !strings.Contains(got[0].Content, `"name": "get_weather"`) {
			t.Errorf("the messages are %+v", got)
		}
		if strings.HasPrefix(before[0].Content, "Be") && !strings.HasPrefix(got[0].Content, "Be terse.\n\nYou") {
			t.Errorf("the system message is %q", got[0].Content)
		}
	}
	before := []chat.Message{{Role: "user", Content: "Hi"}}
	if d := cmp.Diff(before, toolcall.Instruct(before, nil)); d != "" {
		t.Errorf("no tools change the messages:\n%s", d)
	}
	call := chat.Call{Name: "now", Arguments: json.RawMessage("{}")}
	for _, calls := range [][]chat.Call{{call}, {call, call}} {
		if got := parse(t, toolcall.Generic, list, toolcall.Write(calls)); len(got.Calls) != len(calls) {
			t.Errorf("written calls are read as %+v", got)
		}
	}
}

func TestParseChoice(t *testing.T) {
	names := func(c toolcall.Choice) (out []string) {
		for _, t := range c.Tools {
			out = append(out, t.Name)
		}
		return out
	}
	all := []string{"get_weather", "add", "now"}
	for name, c := range map[string]struct {
		choice, parallel string
		tools            []string
		required, single bool
		says             string
	}{
		"None":          {tools: all},
		"Auto":          {choice: `"auto"`, parallel: "false", tools: all, single: true},
		"Never":         {choice: `"none"`},
		"Required":      {choice: `"required"`, parallel: "true", tools: all, required: true},
		"Named":         {choice: `{"type": "function", "function": {"name": "add"}}`, tools: []string{"add"}, required: true, single: true},
		"Allowed":       {choice: `{"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "now"}}, {"type": "function", "function": {"name": "add"}}]}}`, tools: []string{"add", "now"}, required: true},
		"Word":          {choice: `"always"`, says: "'none', 'auto'"},
		"Unknown":       {choice: `{"type": "function", "function": {"name": "rm"}}`, says: `"rm"`},
		"OtherType":     {choice: `{"type": "custom"}`, says: "of type 'function'"},
		"NoObject":      {choice: `3`, says: "cannot be read"},
		"AllowedNobody": {choice: `{"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": []}}`, says: "needs a tool"},
	} {
		t.Run(name, func(t *testing.T) {
			featured := map[string]json.RawMessage{"tools": json.RawMessage(tools)}
			if c.choice != "" {
				featured["tool_choice"] = json.RawMessage(c.choice)
			}
			if c.parallel != "" {
				featured["parallel_tool_calls"] = json.RawMessage(c.parallel)
			}
			got, bad := toolcall.ParseChoice(featured)
			if c.says != "" {
				if bad == nil || bad.Param != "tool_choice" || !strings.Contains(bad.Message, c.says) {
					t.Errorf("the error is %v, want %q", bad, c.says)
				}
				return
			}
			if bad != nil {
				t.Fatal(bad)
			}
			if d := cmp.Diff(c.tools, names(got)); d != "" || got.Required != c.required || got.Single != c.single {
				t.Errorf("the choice is %+v; tools (-want +got):\n%s", got, d)
			}
		})
	}
}

func TestParseToolsRefuses(t *testing.T) {
	many := strings.Repeat(`{"type": "function", "function": {"name": "f"}},`, 200)
	for raw, says := range map[string]string{
		`[{"type": "custom", "name": "f"}]`:                                                                  "tools[0].type",
		`[{"type": "function", "function": {"name": ""}}]`:                                                   "tools[0].function.name",
		`[{"type": "function", "function": {"name": "a b"}}]`:                                                "tools[0].function.name",
		`[{"type": "function", "function": {"name": "f", "parameters": []}}]`:                                "tools[0].function.parameters",
		`[{"type": "function", "function": {"name": "f"}}, {"type": "function", "function": {"name": "f"}}]`: "tools[1].function.name",
		`[{"type": "function", "function": 1}]`:                                                              "tools[0]",
		`[` + many + `{}]`:                                                                                   "tools",
	} {
		_, bad := toolcall.ParseTools(json.RawMessage(raw))
		var e *openai.Error
		if !errors.As(error(bad), &e) || e.Param != says {
			t.Errorf("%.80s gives %v, want a refusal of %s", raw, bad, says)
		}
	}
	if list, bad := toolcall.ParseTools(nil); list != nil || bad != nil {
		t.Errorf("no tools are %v, %v", list, bad)
	}
}
