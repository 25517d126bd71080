package messages

import (
	"slices"
	"strings"
	"testing"
)

// TestParseLeavesOut holds that a part which is only offered, or which a history repeats,
// refuses no request: the rest is answered, and the part is named.
func TestParseLeavesOut(t *testing.T) {
	const (
		begin = `{"model":"m","max_tokens":9,`
		hi    = `"messages":[{"role":"user","content":"hi"}]`
		image = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}`
		use   = `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{}}]}`
	)
	history := func(messages ...string) string { return `"messages":[` + strings.Join(messages, ",") + `]` }
	for name, c := range map[string]struct {
		body    string
		leftOut []string
		want    string // in the chat
		not     string // in the chat
	}{
		"ContextManagement": {hi + `,"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}`, []string{"context_management"}, "hi", "edits"},
		"Servers":           {hi + `,"mcp_servers":[{"type":"url","url":"https://x","name":"x"}],"container":"c"`, []string{"container", "mcp_servers"}, "hi", "https://x"},
		"NoServers":         {hi + `,"mcp_servers":[]`, nil, "hi", "mcp"},
		"HostedTool":        {hi + `,"tools":[{"type":"web_search_20250305","name":"web_search"},{"name":"f","input_schema":{}}],"tool_choice":{"type":"auto"}`, []string{"web_search_20250305"}, `"name":"f"`, "web_search"},
		"HostedOnly":        {hi + `,"tools":[{"type":"bash_20250124","name":"bash"}],"tool_choice":{"type":"auto"}`, []string{"bash_20250124"}, "hi", "tool"},
		"ImageOfTool": {
			history(`{"role":"user","content":"a"}`, use, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[`+image+`]}]}`),
			[]string{"image"}, "[an image was left out", "AA==",
		},
		"ImageBefore": {
			history(`{"role":"user","content":[`+image+`,{"type":"text","text":"see"}]}`, `{"role":"assistant","content":"no"}`, `{"role":"user","content":"hi"}`),
			[]string{"image"}, "[an image was left out", "AA==",
		},
		"ImageBeforeWithoutAnAnswer": {
			history(`{"role":"user","content":[`+image+`]}`, `{"role":"user","content":"hi"}`),
			[]string{"image"}, "[an image was left out", "AA==",
		},
		"ForeignBlocks": {
			history(`{"role":"user","content":"a"}`, `{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]},{"type":"text","text":"b"}]}`, `{"role":"user","content":"c"}`),
			[]string{"server_tool_use", "web_search_tool_result"}, `"b"`, "web_search",
		},
		"ToolReference": {
			history(`{"role":"user","content":"a"}`, use, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"Grep"}]}]}`),
			nil, "The tool Grep is available.", "tool_reference",
		},
	} {
		t.Run(name, func(t *testing.T) {
			chat, _, err := Parse([]byte(begin + c.body + "}"))
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
