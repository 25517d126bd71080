package openai

import (
	"strings"
	"testing"
)

// What only some engines offer is refused, by name, for the others.
func TestRefusal(t *testing.T) {
	with := func(fields string) string { return `{"model":"m",` + hello + `,` + fields + `}` }
	message := func(m string) string { return `{"model":"m","messages":[` + m + `]}` }
	cases := map[string]struct {
		body     string
		features Features
		param    string
	}{
		"None":             {with(`"tools":[],"tool_choice":"auto","parallel_tool_calls":true,"logprobs":false,"response_format":{"type":"text"}`), "", ""},
		"ToolRole":         {message(`{"role":"user","content":"x"},{"role":"tool","content":"x","tool_call_id":"1"}`), "tools", "messages[1].role"},
		"ToolCalls":        {message(`{"role":"assistant","content":"x","tool_calls":[{"id":"1"}]}`), "tools", "messages[0].tool_calls"},
		"Tools":            {with(`"tools":[{"type":"function"}]`), "tools", "tools"},
		"ToolChoice":       {with(`"tool_choice":"required"`), "tool_choice", "tool_choice"},
		"ToolChoiceObject": {with(`"tools":[{}],"tool_choice":{"type":"function"}`), "tool_choice", "tools"},
		"JSONObject":       {with(`"response_format":{"type":"json_object"}`), "json_schema", "response_format"},
		"JSONSchema":       {with(`"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{}}}`), "json_schema", "response_format"},
		"Logprobs":         {with(`"logprobs":true`), "logprobs", "logprobs"},
		"TopLogprobs":      {with(`"logprobs":true,"top_logprobs":3`), "logprobs", "logprobs"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := DecodeChat([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if r.Features != c.features || r.Refusal(c.features) != nil || r.Refusal("json_schema,logprobs,tool_choice,tools") != nil {
				t.Errorf("features %q, want %q; refused: %v", r.Features, c.features, r.Refusal(c.features))
			}
			refused := r.Refusal("")
			if (refused == nil) != (c.param == "") || refused != nil && (refused.Param != c.param || refused.Code != CodeUnsupported || refused.Status != 400) {
				t.Errorf("refused with %+v, want param %q", refused, c.param)
			}
		})
	}
}

// The answer to a completion has no place for calls of tools.
func TestCompletionNeedsNothing(t *testing.T) {
	for _, field := range []string{`"tools":[{}]`, `"tool_choice":"required"`, `"response_format":{"type":"json_object"}`, `"top_logprobs":1`} {
		if _, err := ParseCompletion([]byte(`{"model":"m","prompt":"x",` + field + `}`)); err == nil || !strings.Contains(err.Error(), "not supported in completions") {
			t.Errorf("%s: err = %v", field, err)
		}
	}
}
