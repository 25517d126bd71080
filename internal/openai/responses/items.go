package responses

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// An Item is one item of the input, or of an output that is input again.
type Item struct {
	// Raw is the item as it came, or a user's message for a plain string: it can be
	// stored and parsed again.
	Raw  json.RawMessage
	Kind string // one of the kinds below
	ID   string // "" if it has none

	Role openai.Role // of a message
	Text string      // of a message, of thoughts, of a function's output, or of a summary

	CallID    string // of a call of a function and of its output
	Name      string // of the function
	Arguments string // JSON
}

// The kinds of items.
const (
	KindMessage    = "message"
	KindCall       = "function_call"
	KindCallOutput = "function_call_output"
	KindReasoning  = "reasoning"
	KindReference  = "item_reference" // to a stored item
	KindCompaction = "compaction"
)

func parseInput(o openai.Object) []Item {
	text, items, isText := o.TextOrArray("input", "a string or an array of items")
	if isText {
		return []Item{userMessage(text)}
	}
	if len(items) > maxItems {
		o.Fail("input", openai.CodeInvalidValue, fmt.Sprintf("%%s must not hold more than %d items", maxItems))
		return nil
	}
	return parseItems(o, "input", items)
}

func userMessage(text string) Item {
	raw, _ := openai.Encode(map[string]string{"type": KindMessage, "role": "user", "content": text})
	return Item{Raw: raw, Kind: KindMessage, Role: openai.User, Text: text}
}

func parseItems(o openai.Object, name string, items []json.RawMessage) []Item {
	out := make([]Item, 0, len(items))
	for i, raw := range items {
		item := openai.NewObject(fmt.Sprintf("%s[%d]", name, i), raw)
		out = append(out, parseItem(item, raw))
		o.Adopt(item)
		if o.Err() != nil {
			return nil
		}
	}
	return out
}

// parseItem takes {role, content} without a type as a message, as OpenAI does.
func parseItem(o openai.Object, raw json.RawMessage) Item {
	item := Item{Raw: raw}
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
		if item.Name, _ = o.Text("name"); item.Name == "" {
			o.Fail("name", openai.CodeMissing, "%s is required: the function that is called")
		}
		item.Arguments, _ = o.Text("arguments")
	case KindCallOutput:
		item.parseCallID(o)
		item.Text = parseContent(o, "output", "input_text")
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
		o.Fail("type", openai.CodeUnsupportedValue, "%s is not supported here: items are messages, calls of functions with their outputs, reasoning, references to stored items, and compactions")
	}
	return item
}

func (item *Item) parseCallID(o openai.Object) {
	if item.CallID, _ = o.Text("call_id"); item.CallID == "" {
		o.Fail("call_id", openai.CodeMissing, "%s is required: the id that the call has")
	}
}

func (item *Item) parseMessage(o openai.Object) {
	switch role, _ := o.Text("role"); role {
	case "user":
		item.Role = openai.User
		item.Text = parseContent(o, "content", "input_text")
	case "system", "developer":
		item.Role = openai.System
		item.Text = parseContent(o, "content", "input_text")
	case "assistant":
		item.Role = openai.Assistant
		item.Text = parseContent(o, "content", "output_text", "refusal", "input_text")
	default:
		o.Fail("role", openai.CodeInvalidValue, "%s must be one of 'user', 'system', 'developer', 'assistant'")
	}
}

// parseContent reads a string, or joins parts of the given kinds by newlines, as
// chats do.
func parseContent(o openai.Object, field string, kinds ...string) string {
	if !o.Has(field) {
		o.Fail(field, openai.CodeMissing, "%s is required: a string or an array of parts")
		return ""
	}
	text, parts, isText := o.TextOrArray(field, "a string or an array of parts")
	if isText {
		return text
	}
	texts := make([]string, 0, len(parts))
	for i, raw := range parts {
		part := openai.NewObject(fmt.Sprintf("%s[%d]", o.Name(field), i), raw)
		texts = append(texts, parsePart(part, kinds))
		o.Adopt(part)
	}
	return strings.Join(texts, "\n")
}

func parsePart(o openai.Object, kinds []string) string {
	kind, _ := o.Text("type")
	known := false
	for _, k := range kinds {
		known = known || k == kind
	}
	switch {
	case known:
	case kind == "input_image" || kind == "input_file" || kind == "input_video":
		o.Fail("type", openai.CodeUnsupportedValue, "%s cannot be '"+kind+"' here: the models of this server read only text")
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
		parts, _ := o.Array(field)
		var texts []string
		for i, raw := range parts {
			part := openai.NewObject(fmt.Sprintf("%s[%d]", o.Name(field), i), raw)
			text, _ := part.Text("text")
			texts = append(texts, text)
			o.Adopt(part)
		}
		if item.Text == "" {
			item.Text = strings.Join(texts, "\n")
		}
	}
}
