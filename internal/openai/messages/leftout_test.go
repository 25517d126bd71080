package messages

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/openai"
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
		"DocumentBesideResult": {
			history(`{"role":"user","content":"a"}`, use, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"see"},{"type":"document","source":{"type":"base64","data":"AA=="}}]}`),
			[]string{"document"}, "[a document was left out", "AA==",
		},
		"DocumentOfText": {
			history(`{"role":"user","content":[{"type":"document","title":"Title","source":{"type":"text","data":"words"}},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"blocks"}]}}]}`),
			nil, `Title\nwords\nblocks`, "source",
		},
		"SearchResult": {
			history(`{"role":"user","content":"a"}`, use, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"search_result","title":"Title","source":"https://x","content":[{"type":"text","text":"found"}]}]}]}`),
			nil, `Title\nhttps://x\nfound`, "search_result",
		},
		"DocumentInDocument": {
			history(`{"role":"user","content":[{"type":"document","source":{"type":"content","content":[{"type":"document","source":{"type":"text","data":"inner"}}]}}]}`),
			[]string{"document"}, "[a document was left out", "inner",
		},
		"ForeignFile": {history(`{"role":"user","content":[{"type":"container_upload","file_id":"x"},{"type":"text","text":"hi"}]}`), []string{"container_upload"}, "hi", "file_id"},
		"StrangeKind": {hi + `,"tools":[{"type":"a b","name":"x"}]`, []string{"tools"}, "hi", "tool"},
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

// TestParseRefusesDemands holds that what a request demands is refused by name.
func TestParseRefusesDemands(t *testing.T) {
	const tools = `,"tools":[{"name":"f","input_schema":{}},{"type":"web_search_20250305","name":"web_search"}]`
	for name, c := range map[string]struct{ body, param string }{
		"Image":         {`"messages":[{"role":"user","content":[{"type":"image"}]}]`, "messages[0].content[0].type"},
		"ImageFirst":    {`"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"image"},{"type":"tool_result","tool_use_id":"t","content":"b"}]}]`, "messages[2].content[0].type"},
		"HostedChosen":  {`"messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"tool","name":"web_search"}` + tools, "tool_choice.name"},
		"UnknownChosen": {`"messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"tool","name":"g"}` + tools, "tool_choice.name"},
		"UnknownBlock":  {`"messages":[{"role":"user","content":[{"type":"zzz"}]}]`, "messages[0].content[0].type"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Parse([]byte(`{"model":"m","max_tokens":9,` + c.body + `}`))
			var e *openai.Error
			if !errors.As(err, &e) || e.Param != c.param {
				t.Errorf("got %v, want a refusal of %s", err, c.param)
			}
		})
	}
}
