package responses

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gorizond/koldun/internal/openai"
)

// A Tool is a function that the model may call.
type Tool struct {
	Type        string          `json:"type"` // "function"
	Name        string          `json:"name"`
	Description *string         `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict"`
}

// A choice is tool_choice: a mode, and the functions that it is limited to, if any.
type choice struct {
	mode  string // none, auto or required
	named string // the one function that must be called, or ""
	// allowed are the only functions that may be called; nil is all. To hold that
	// limit, the engine sees no other function.
	allowed []string
}

const maxTools = 128

func (r *Request) parseTools(o openai.Object) {
	items, _ := o.Array("tools")
	if len(items) > maxTools {
		o.Fail("tools", openai.CodeInvalidValue, fmt.Sprintf("%%s must not hold more than %d tools", maxTools))
		return
	}
	for i, raw := range items {
		t := openai.NewObject(fmt.Sprintf("tools[%d]", i), raw)
		r.tools = append(r.tools, parseTool(t))
		o.Adopt(t)
	}
	r.choice = r.parseChoice(o)
}

func parseTool(o openai.Object) Tool {
	t := Tool{}
	if t.Type, _ = o.Text("type"); t.Type != "function" {
		o.Fail("type", openai.CodeUnsupportedValue, "%s must be 'function': this server hosts no tools")
	}
	if t.Name, _ = o.Text("name"); !isFunctionName(t.Name) {
		o.Fail("name", openai.CodeInvalidValue, "%s is required: up to 64 letters, digits, _ and -")
	}
	if text, ok := o.Text("description"); ok {
		t.Description = &text
	}
	if o.Has("strict") {
		t.Strict = new(o.Boolean("strict", false))
	}
	if t.Parameters = o.Take("parameters"); t.Parameters != nil {
		o.Adopt(openai.NewObject(o.Name("parameters"), t.Parameters))
	}
	return t
}

func isFunctionName(name string) bool {
	const most = 64
	return name != "" && len(name) <= most && !slices.ContainsFunc([]byte(name), func(c byte) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	})
}

func (r *Request) parseChoice(o openai.Object) choice {
	raw := o.Take("tool_choice")
	if raw == nil {
		return choice{mode: "auto"}
	}
	if mode, ok := openai.Unquote(raw); ok {
		switch {
		case mode != "none" && mode != "auto" && mode != "required":
			o.Fail("tool_choice", openai.CodeInvalidValue, "%s must be 'none', 'auto', 'required' or an object")
		case mode == "required" && len(r.tools) == 0:
			o.Fail("tool_choice", openai.CodeInvalidValue, "%s cannot be 'required' without 'tools'")
		}
		return choice{mode: mode}
	}
	c := openai.NewObject("tool_choice", raw)
	out := choice{mode: "required"}
	switch kind, _ := c.Text("type"); kind {
	case "function":
		out.named, _ = c.Text("name")
		r.mustHave(c, "name", out.named)
	case "allowed_tools":
		out = r.parseAllowed(c)
	default:
		c.Fail("type", openai.CodeUnsupportedValue, "%s must be 'function' or 'allowed_tools': this server hosts no tools")
	}
	o.Adopt(c)
	return out
}

func (r *Request) parseAllowed(o openai.Object) choice {
	out := choice{mode: word(o, "mode", "auto", "required", "none"), allowed: []string{}}
	items, _ := o.Array("tools")
	if len(items) == 0 || len(items) > maxTools {
		o.Fail("tools", openai.CodeInvalidValue, fmt.Sprintf("%%s must hold 1 to %d tools", maxTools))
	}
	for i, raw := range items {
		t := openai.NewObject(fmt.Sprintf("%s[%d]", o.Name("tools"), i), raw)
		if kind, _ := t.Text("type"); kind != "function" {
			t.Fail("type", openai.CodeUnsupportedValue, "%s must be 'function': this server hosts no tools")
		}
		name, _ := t.Text("name")
		r.mustHave(t, "name", name)
		out.allowed = append(out.allowed, name)
		o.Adopt(t)
	}
	return out
}

func (r *Request) mustHave(o openai.Object, field, name string) {
	if !slices.ContainsFunc(r.tools, func(t Tool) bool { return t.Name == name }) {
		o.Fail(field, openai.CodeInvalidValue, "%s must name one of 'tools'")
	}
}

// permits reports whether the model may call a function.
func (c choice) permits(name string) bool {
	switch {
	case c.named != "":
		return name == c.named
	case c.allowed != nil:
		return slices.Contains(c.allowed, name)
	}
	return true
}

// MarshalJSON writes the choice as the response repeats it.
func (c choice) MarshalJSON() ([]byte, error) {
	type function struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}
	switch {
	case c.named != "":
		return json.Marshal(function{"function", c.named})
	case c.allowed != nil:
		tools := make([]function, 0, len(c.allowed))
		for _, name := range c.allowed {
			tools = append(tools, function{"function", name})
		}
		return json.Marshal(map[string]any{"type": "allowed_tools", "mode": c.mode, "tools": tools})
	}
	return json.Marshal(c.mode)
}

// chatTools returns the tools and the choice as chats have them. Without a tool that
// may be called there is neither.
func (r *Request) chatTools(body map[string]any) {
	type function struct {
		Name        string          `json:"name"`
		Description *string         `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
		Strict      *bool           `json:"strict,omitempty"`
	}
	var tools []any
	for _, t := range r.tools {
		if r.choice.allowed == nil || r.choice.permits(t.Name) {
			tools = append(tools, map[string]any{"type": "function", "function": function{t.Name, t.Description, t.Parameters, t.Strict}})
		}
	}
	if len(tools) == 0 {
		return
	}
	body["tools"] = tools
	switch {
	case r.choice.named != "":
		body["tool_choice"] = map[string]any{"type": "function", "function": map[string]string{"name": r.choice.named}}
	case r.choice.mode != "auto":
		body["tool_choice"] = r.choice.mode
	}
	if !r.parallel {
		body["parallel_tool_calls"] = false
	}
}
