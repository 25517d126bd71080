package openai

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestChatLeavesOut holds that a part which is only offered, or which a history repeats,
// refuses no chat: the rest is answered, and the part is named.
func TestChatLeavesOut(t *testing.T) {
	const (
		f      = `{"type":"function","function":{"name":"f"}}`
		g      = `{"type":"function","function":{"name":"g"}}`
		custom = `{"type":"custom","custom":{"name":"patch"}}`
		call   = `{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	)
	for name, c := range map[string]struct {
		messages, more string
		leftOut        []string
		want, not      string // in the chat
	}{
		"CustomTool":   {`{"role":"user","content":"hi"}`, `,"tools":[` + f + `,` + custom + `]`, []string{"custom"}, `"tools":[` + f + `]`, "patch"},
		"OnlyCustom":   {`{"role":"user","content":"hi"}`, `,"tools":[` + custom + `],"tool_choice":"auto","parallel_tool_calls":true`, []string{"custom"}, "hi", "tool"},
		"HostedTool":   {`{"role":"user","content":"hi"}`, `,"tools":[{"type":"web_search"},` + f + `]`, []string{"web_search"}, `"tools":[` + f + `]`, "web"},
		"StrangeKind":  {`{"role":"user","content":"hi"}`, `,"tools":[{"type":"a\r\nb"}]`, []string{"tools"}, "hi", "tools"},
		"Allowed":      {`{"role":"user","content":"hi"}`, `,"tools":[` + f + `,` + g + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[` + g + `]}}`, nil, `"tool_choice":"required"`, `"f"`},
		"AllowedNone":  {`{"role":"user","content":"hi"}`, `,"tools":[` + f + `,` + custom + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[` + custom + `]}}`, []string{"custom"}, "hi", "tool"},
		"ImageOfTool":  {call + `,{"role":"tool","tool_call_id":"c","content":[{"type":"image_url"}]}`, "", []string{"image_url"}, "[an image was left out", "image_url"},
		"ImageBehind":  {call + `,{"role":"tool","tool_call_id":"c","content":"see"},{"role":"user","content":[{"type":"text","text":"from f"},{"type":"image_url"}]}`, "", []string{"image_url"}, "[an image was left out", "image_url"},
		"AudioBefore":  {`{"role":"user","content":[{"type":"input_audio"}]},{"role":"assistant","content":"ok"},{"role":"user","content":"hi"}`, "", []string{"input_audio"}, "[a recording was left out", "input_audio"},
		"FileOfSystem": {`{"role":"system","content":[{"type":"file"}]},{"role":"user","content":"hi"}`, "", []string{"file"}, "[a file was left out", `"file"`},
		"CustomCall": {
			`{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"custom","custom":{"name":"patch","input":"*** \"x\""}}]},{"role":"tool","tool_call_id":"c","content":"done"}`,
			"", nil, `{"name":"patch","arguments":"{\"input\":\"*** \\\"x\\\"\"}"}`, "custom",
		},
	} {
		t.Run(name, func(t *testing.T) {
			chat, err := ParseChat([]byte(`{"model":"m","messages":[` + c.messages + `]` + c.more + `}`))
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

// TestChatRefusesDemands holds that what a chat demands is refused by name.
func TestChatRefusesDemands(t *testing.T) {
	const tools = `,"tools":[{"type":"function","function":{"name":"f"}},{"type":"custom","custom":{"name":"patch"}}]`
	const hi = `{"role":"user","content":"hi"}`
	for name, c := range map[string]struct{ messages, more, param string }{
		"CustomChosen":   {hi, tools + `,"tool_choice":{"type":"custom","custom":{"name":"patch"}}`, "tool_choice.type"},
		"UnknownChosen":  {hi, tools + `,"tool_choice":{"type":"function","function":{"name":"g"}}`, "tool_choice.function.name"},
		"NoneLeft":       {hi, `,"tools":[{"type":"custom"}],"tool_choice":"required"`, "tool_choice"},
		"NoneAllowed":    {hi, tools + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"custom"}]}}`, "tool_choice"},
		"AllowedUnknown": {hi, tools + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"tools":[{"type":"function","function":{"name":"g"}}]}}`, "tool_choice.allowed_tools.tools[0].function.name"},
		"AllowedNothing": {hi, tools + `,"tool_choice":{"type":"allowed_tools"}`, "tool_choice.allowed_tools"},
		"Image":          {`{"role":"user","content":[{"type":"image_url"}]}`, "", "messages[0].content[0].type"},
		"Video":          {`{"role":"user","content":[{"type":"text","text":"a"},{"type":"video_url"}]}`, "", "messages[0].content[1].type"},
		"CallsNoList":    {`{"role":"user","content":"a","tool_calls":{"a":1}}`, "", "messages[0].tool_calls"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseChat([]byte(`{"model":"m","messages":[` + c.messages + `]` + c.more + `}`))
			var e *Error
			if !errors.As(err, &e) || e.Param != c.param {
				t.Errorf("got %v, want a refusal of %s", err, c.param)
			}
		})
	}
}
