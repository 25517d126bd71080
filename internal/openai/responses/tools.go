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

	namespace string // of the group that it is in, or ""
}

func (t Tool) function() functionName { return functionName{t.namespace, t.Name} }

// A choice is tool_choice: a mode, and the functions that it is limited to, if any.
type choice struct {
	mode  string       // none, auto or required
	named functionName // the one function that must be called; zero: none
	// allowed are the only functions that may be called; nil is all. To hold that
	// limit, the engine sees no other function.
	allowed []functionName
}

// The bounds of tools: in the list and in each group, and of functions in all.
const (
	maxTools     = 128
	maxFunctions = 1024
)

func (r *Request) parseTools(o openai.Object) {
	for _, t := range o.Objects("tools", o.Array("tools"), maxTools) {
		r.parseTool(t)
	}
	if len(r.tools) > maxFunctions {
		o.Fail("tools", openai.CodeInvalidValue, fmt.Sprintf("%%s must not hold more than %d functions", maxFunctions))
		return
	}
	r.nameTools()
	r.choice = r.parseChoice(o)
}

// parseTool reads a function, or a group of functions. Any other tool would run on the
// server, which has none: it is only offered, so it is left out.
func (r *Request) parseTool(o openai.Object) {
	switch kind, _ := o.Text("type"); kind {
	case "function":
		t := parseFunction(o)
		if !isFunctionName(t.Name) {
			o.Fail("name", openai.CodeInvalidValue, "%s is required: up to 64 letters, digits, _ and -")
		}
		r.tools, r.shown = append(r.tools, t), append(r.shown, encode(t))
	case "namespace":
		r.parseNamespace(o)
		r.shown = append(r.shown, o.Raw())
	case "":
		o.Fail("type", openai.CodeMissing, "%s is required: the kind of the tool")
	default:
		r.leaveOut(openai.LeftOutName(kind, "tools"))
	}
}

// parseNamespace reads a group of functions, as Codex sends for each MCP server.
func (r *Request) parseNamespace(o openai.Object) {
	namespace, _ := o.Text("name")
	if namespace == "" {
		o.Fail("name", openai.CodeMissing, "%s is required: the name of the group")
	}
	for _, inner := range o.Objects("tools", o.Array("tools"), maxTools) {
		switch kind, _ := inner.Text("type"); kind {
		case "function":
		case "":
			inner.Fail("type", openai.CodeMissing, "%s is required: the kind of the tool")
			continue
		default:
			r.leaveOut(openai.LeftOutName(kind, "tools"))
			continue
		}
		t := parseFunction(inner)
		if t.namespace = namespace; t.Name == "" {
			inner.Fail("name", openai.CodeMissing, "%s is required: the name of the function")
		}
		r.tools = append(r.tools, t)
	}
}

func parseFunction(o openai.Object) Tool {
	t := Tool{Type: "function"}
	t.Name, _ = o.Text("name")
	if text, ok := o.Text("description"); ok {
		t.Description = &text
	}
	if o.Has("strict") {
		t.Strict = new(o.Boolean("strict", false))
	}
	t.Parameters = o.Object("parameters")
	return t
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
	c := o.Inner("tool_choice", raw)
	out := choice{mode: "required"}
	switch kind, _ := c.Text("type"); kind {
	case "function":
		out.named = r.parseChosen(c)
	case "allowed_tools":
		out = r.parseAllowed(c)
	default:
		c.Fail("type", openai.CodeUnsupportedValue, "%s must be 'function' or 'allowed_tools': this server hosts no tools")
	}
	o.Adopt(c)
	return out
}

func (r *Request) parseAllowed(o openai.Object) choice {
	out := choice{mode: word(o, "mode", "auto", "required", "none"), allowed: []functionName{}}
	items := o.Array("tools")
	if items == nil || openai.IsEmpty(items) {
		o.Fail("tools", openai.CodeInvalidValue, fmt.Sprintf("%%s must hold 1 to %d tools", maxTools))
	}
	for _, t := range o.Objects("tools", items, maxTools) {
		if kind, _ := t.Text("type"); kind == "function" {
			out.allowed = append(out.allowed, r.parseChosen(t))
		} else {
			r.leaveOut(openai.LeftOutName(kind, "tool_choice"))
		}
	}
	if out.mode == "required" && len(out.allowed) == 0 {
		o.Fail("tools", openai.CodeUnsupportedValue, "%s must hold a 'function' if one is required: this server hosts no tools")
	}
	return out
}

// parseChosen reads the name of a function, which must be one of the tools.
func (r *Request) parseChosen(o openai.Object) functionName {
	var f functionName
	f.name, _ = o.Text("name")
	f.namespace, _ = o.Text("namespace")
	if !slices.ContainsFunc(r.tools, func(t Tool) bool { return t.function() == f }) {
		o.Fail("name", openai.CodeInvalidValue, "%s must name one of 'tools'")
	}
	return f
}

// permits reports whether the model may call a function.
func (c choice) permits(f functionName) bool {
	switch {
	case c.named != functionName{}:
		return f == c.named
	case c.allowed != nil:
		return slices.Contains(c.allowed, f)
	}
	return true
}

// MarshalJSON writes the choice as the response repeats it.
func (c choice) MarshalJSON() ([]byte, error) {
	type function struct {
		Type      string `json:"type"`
		Name      string `json:"name"`
		Namespace string `json:"namespace,omitempty"`
	}
	switch {
	case c.named != functionName{}:
		return json.Marshal(function{"function", c.named.name, c.named.namespace})
	case c.allowed != nil:
		tools := make([]function, 0, len(c.allowed))
		for _, f := range c.allowed {
			tools = append(tools, function{"function", f.name, f.namespace})
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
		if r.choice.allowed == nil || r.choice.permits(t.function()) {
			tools = append(tools, map[string]any{"type": "function", "function": function{r.nameOf(t.function()), t.Description, t.Parameters, t.Strict}})
		}
	}
	if len(tools) == 0 {
		return
	}
	body["tools"] = tools
	switch {
	case r.choice.named != functionName{}:
		body["tool_choice"] = map[string]any{"type": "function", "function": map[string]string{"name": r.nameOf(r.choice.named)}}
	case r.choice.mode != "auto":
		body["tool_choice"] = r.choice.mode
	}
	if !r.parallel {
		body["parallel_tool_calls"] = false
	}
}
