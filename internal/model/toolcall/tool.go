package toolcall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// A Tool is a function that the model may call.
type Tool struct {
	Name       string
	Parameters json.RawMessage // JSON schema of its arguments; nil: it has none
	Strict     bool
	raw        json.RawMessage // as the client wrote it
	types      map[string][]string
}

// maxTools is OpenAI's limit.
const maxTools = 128

// ParseTools reads the parameter tools of a chat. The error is for the client.
func ParseTools(raw json.RawMessage) ([]Tool, *openai.Error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil, openai.BadRequest("tools", openai.CodeInvalidType, "'tools' must be an array of objects")
	}
	if len(items) > maxTools {
		return nil, openai.BadRequest("tools", openai.CodeInvalidValue, fmt.Sprintf("'tools' must not hold more than %d tools", maxTools))
	}
	tools := make([]Tool, 0, len(items))
	for i, item := range items {
		t, bad := parseTool(fmt.Sprintf("tools[%d]", i), item)
		if bad != nil {
			return nil, bad
		}
		if slices.ContainsFunc(tools, func(other Tool) bool { return other.Name == t.Name }) {
			return nil, openai.BadRequest(fmt.Sprintf("tools[%d].function.name", i), openai.CodeInvalidValue, fmt.Sprintf("there are two tools of the name %q", t.Name))
		}
		tools = append(tools, t)
	}
	return tools, nil
}

func parseTool(path string, raw json.RawMessage) (Tool, *openai.Error) {
	var w struct {
		Type     string `json:"type"`
		Function *struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
			Strict     *bool           `json:"strict"`
		} `json:"function"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return Tool{}, openai.BadRequest(path, openai.CodeInvalidType, "'"+path+"' is not a tool: "+err.Error())
	}
	if w.Type != "function" || w.Function == nil {
		return Tool{}, openai.BadRequest(path+".type", openai.CodeUnsupportedValue, "'"+path+".type' must be 'function', with a field 'function'")
	}
	if !validName(w.Function.Name) {
		return Tool{}, openai.BadRequest(path+".function.name", openai.CodeInvalidValue, "'"+path+".function.name' must have 1 to 64 of the characters a-z, A-Z, 0-9, _, - and .")
	}
	t := Tool{Name: w.Function.Name, raw: raw, Strict: w.Function.Strict != nil && *w.Function.Strict}
	if p := w.Function.Parameters; len(p) > 0 && string(p) != "null" {
		var schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(p, &schema); err != nil {
			return Tool{}, openai.BadRequest(path+".function.parameters", openai.CodeInvalidType, "'"+path+".function.parameters' is not a JSON schema of an object: "+err.Error())
		}
		t.Parameters, t.types = p, map[string][]string{}
		for key, property := range schema.Properties {
			t.types[key] = typesOf(property, 0)
		}
	}
	return t, nil
}

func validName(name string) bool {
	return len(name) >= 1 && len(name) <= 64 && strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
	}) < 0
}

// typesOf returns the types that a schema names.
func typesOf(schema json.RawMessage, depth int) []string {
	var s struct {
		Type         json.RawMessage
		AnyOf, OneOf []json.RawMessage
	}
	if depth > 8 || json.Unmarshal(schema, &s) != nil {
		return nil
	}
	var one string
	var types []string
	if json.Unmarshal(s.Type, &one) == nil {
		types = []string{one}
	} else if json.Unmarshal(s.Type, &types) != nil {
		types = nil
	}
	for _, branch := range slices.Concat(s.AnyOf, s.OneOf) {
		types = append(types, typesOf(branch, depth+1)...)
	}
	slices.Sort(types)
	types = slices.Compact(types)
	return slices.DeleteFunc(types, func(t string) bool { return !slices.Contains(nonText, t) })
}

// nonText are the types of JSON Schema whose values are no texts.
var nonText = []string{"array", "boolean", "integer", "number", "object"}

// value returns a parameter that is written as text in JSON, of the type that the
// schema names: a text, unless it is something else.
func (t Tool) value(key, text string) []byte {
	trimmed := strings.TrimSpace(text)
	if trimmed == "null" {
		return []byte("null")
	}
	for _, kind := range t.types[key] {
		if kind == "boolean" && (trimmed == "True" || trimmed == "False") {
			return []byte(strings.ToLower(trimmed))
		}
		if is(kind, trimmed) {
			return []byte(trimmed)
		}
	}
	return []byte(quote(text))
}

// is reports whether a text is JSON of a type that is no string.
func is(kind, text string) bool {
	if text == "" || !json.Valid([]byte(text)) {
		return false
	}
	c := text[0]
	switch kind {
	case "integer", "number":
		return c == '-' || c >= '0' && c <= '9'
	case "boolean":
		return c == 't' || c == 'f'
	case "object":
		return c == '{'
	case "array":
		return c == '['
	}
	return false
}
