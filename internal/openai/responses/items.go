package responses

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// An Item is one item of the input, or of an output that is input again.
type Item struct {
	Kind string // one of the kinds below
	ID   string // "" if it has none

	Role openai.Role // of a message
	Text string      // of a message, of thoughts, of a function's output, or of a summary

	CallID    string // of a call of a function and of its output
	Arguments string // JSON

	function functionName
	leftOut  []leftOut // parts that a text stands for
}

// A leftOut is a part that no engine reads, by its name in the request.
type leftOut struct{ name, kind string }

// The kinds of items.
const (
	KindMessage    = "message"
	KindCall       = "function_call"
	KindCallOutput = "function_call_output"
	KindReasoning  = "reasoning"
	KindReference  = "item_reference" // to a stored item
	KindCompaction = "compaction"

	kindCustomCall   = "custom_tool_call"
	kindCustomOutput = "custom_tool_call_output"
)

// foreign reports whether an item belongs to a tool that another server hosts, such as
// web_search_call or mcp_list_tools: a history may have it, and the model cannot read it.
func (item *Item) foreign() bool {
	switch item.Kind {
	case KindCall, KindCallOutput:
		return false
	case "additional_tools", "configuration_update", "program", "program_output", "tool_search_output":
		return true
	}
	return strings.HasSuffix(item.Kind, "_call") || strings.HasSuffix(item.Kind, "_call_output") ||
		strings.HasPrefix(item.Kind, "mcp_")
}

func (r *Request) parseInput(o openai.Object) []Item {
	text, items, isText := o.TextOrArray("input", "a string or an array of items")
	if isText {
		return []Item{userMessage(text)}
	}
	out := parseItems(o, "input", items)
	r.refuseUnread(o, out)
	for _, item := range out {
		if item.foreign() {
			r.leaveOut(openai.LeftOutName(item.Kind, "input"))
		}
	}
	return withoutForeign(out)
}

// withoutForeign leaves out the outputs of calls that belong to tools which another server
// hosts: a local_shell_call has a function_call_output.
func withoutForeign(items []Item) []Item {
	foreign := map[string]bool{}
	for _, item := range items {
		if item.foreign() && item.CallID != "" {
			foreign[item.CallID] = true
		}
	}
	return slices.DeleteFunc(items, func(item Item) bool { return item.Kind == KindCallOutput && foreign[item.CallID] })
}

// refuseUnread refuses images and the like about which the user asks: no engine reads them
// yet. Those of tools and of earlier turns are left out, as the conversation would end with
// them. What follows the output of a tool belongs to that.
func (r *Request) refuseUnread(o openai.Object, items []Item) {
	var asked *leftOut
	ofTool := false
	for _, item := range items {
		for _, part := range item.leftOut {
			r.leaveOut(part.kind)
		}
		switch {
		case item.Kind == KindCallOutput:
			ofTool = true
		case item.Kind != KindMessage:
		case item.Role != openai.User:
			ofTool = false
		case len(item.leftOut) > 0:
			if asked = nil; !ofTool {
				asked = &item.leftOut[0]
			}
		default:
			asked, ofTool = nil, false
		}
	}
	if asked != nil {
		o.Fail(asked.name, openai.CodeUnsupportedValue, "%s cannot be '"+asked.kind+"' here: the models of this server read only text")
	}
}

func userMessage(text string) Item {
	return Item{Kind: KindMessage, Role: openai.User, Text: text}
}

func parseItems(o openai.Object, name string, items json.RawMessage) []Item {
	var out []Item
	for _, item := range o.Objects(name, items, maxItems) {
		out = append(out, parseItem(item))
	}
	if o.Err() != nil {
		return nil
	}
	return out
}

// parseItem takes {role, content} without a type as a message, as OpenAI does.
func parseItem(o openai.Object) Item {
	var item Item
	item.ID, _ = o.Text("id")
	kind, ok := o.Text("type")
	if !ok && o.Has("role") {
		kind = KindMessage
	}
	item.Kind = kind
	switch kind {
	case KindMessage:
		item.parseMessage(o)
	case KindCall:
		item.parseCallID(o)
		item.parseFunction(o)
		item.Arguments, _ = o.Text("arguments")
	case kindCustomCall: // a function whose argument is a text
		item.Kind = KindCall
		item.parseCallID(o)
		item.parseFunction(o)
		text, _ := o.Text("input")
		item.Arguments = string(encode(map[string]string{"input": text}))
	case kindCustomOutput:
		item.Kind = KindCallOutput
		item.parseCallID(o)
		item.Text = item.parseContent(o, "output", "input_text")
	case KindCallOutput:
		item.parseCallID(o)
		item.Text = item.parseContent(o, "output", "input_text")
	case KindReasoning:
		item.parseThoughts(o)
	case KindReference:
		if item.ID == "" {
			o.Fail("id", openai.CodeMissing, "%s is required: the id of a stored item")
		}
	case KindCompaction:
		item.parseCompaction(o)
	case "":
		o.Fail("type", openai.CodeMissing, "%s is required: the kind of the item")
	default:
		if item.foreign() {
			item.CallID, _ = o.Text("call_id")
			break
		}
		o.Fail("type", openai.CodeUnsupportedValue, "%s is not supported here: items are messages, calls of functions with their outputs, reasoning, references to stored items, and compactions")
	}
	return item
}

func (item *Item) parseCallID(o openai.Object) {
	if item.CallID, _ = o.Text("call_id"); item.CallID == "" {
		o.Fail("call_id", openai.CodeMissing, "%s is required: the id that the call has")
	}
}

func (item *Item) parseFunction(o openai.Object) {
	if item.function.name, _ = o.Text("name"); item.function.name == "" {
		o.Fail("name", openai.CodeMissing, "%s is required: the function that is called")
	}
	item.function.namespace, _ = o.Text("namespace")
}

func (item *Item) parseMessage(o openai.Object) {
	switch role, _ := o.Text("role"); role {
	case "user":
		item.Role = openai.User
		item.Text = item.parseContent(o, "content", "input_text")
	case "system", "developer":
		item.Role = openai.System
		item.Text = item.parseContent(o, "content", "input_text")
	case "assistant":
		item.Role = openai.Assistant
		item.Text = item.parseContent(o, "content", "output_text", "refusal", "input_text")
	default:
		o.Fail("role", openai.CodeInvalidValue, "%s must be one of 'user', 'system', 'developer', 'assistant'")
	}
}

// parseContent reads a string, or joins parts of the given kinds by newlines, as
// chats do.
func (item *Item) parseContent(o openai.Object, field string, kinds ...string) string {
	if !o.Has(field) {
		o.Fail(field, openai.CodeMissing, "%s is required: a string or an array of parts")
		return ""
	}
	text, parts, isText := o.TextOrArray(field, "a string or an array of parts")
	if isText {
		return text
	}
	var texts []string
	for _, part := range o.Objects(field, parts, maxParts) {
		texts = append(texts, item.parsePart(part, kinds))
	}
	return strings.Join(texts, "\n")
}

func (item *Item) parsePart(o openai.Object, kinds []string) string {
	kind, _ := o.Text("type")
	text, unread := openai.StandIn(kind)
	switch {
	case slices.Contains(kinds, kind):
	case unread:
		item.leftOut = append(item.leftOut, leftOut{o.Name("type"), kind})
		return text
	default:
		o.Fail("type", openai.CodeInvalidValue, "%s must be '"+kinds[0]+"' here")
	}
	field := "text"
	if kind == "refusal" {
		field = "refusal"
	}
	text, ok := o.Text(field)
	if !ok {
		o.Fail(field, openai.CodeMissing, "%s is required: a string")
	}
	return text
}

// parseThoughts reads the thoughts themselves, or else their summary.
func (item *Item) parseThoughts(o openai.Object) {
	for _, field := range []string{"content", "summary"} {
		var texts []string
		for _, part := range o.Objects(field, o.Array(field), maxParts) {
			text, _ := part.Text("text")
			texts = append(texts, text)
		}
		if item.Text == "" {
			item.Text = strings.Join(texts, "\n")
		}
	}
}
