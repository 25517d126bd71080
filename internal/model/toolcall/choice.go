package toolcall

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gorizond/koldun/internal/openai"
)

// A Choice says which tools the model may call, and whether it must.
type Choice struct {
	Tools    []Tool // none: it may not call any
	Required bool   // it must call one of them
	Single   bool   // it may call only one
}

// ParseChoice reads the parameters tools, tool_choice and parallel_tool_calls of a
// chat, as openai.ChatRequest.Featured has them. The error is for the client.
func ParseChoice(featured map[string]json.RawMessage) (Choice, *openai.Error) {
	tools, bad := ParseTools(featured["tools"])
	if bad != nil {
		return Choice{}, bad
	}
	c := Choice{Tools: tools}
	if raw := featured["parallel_tool_calls"]; raw != nil {
		parallel := true
		c.Single = json.Unmarshal(raw, &parallel) == nil && !parallel
	}
	raw := featured["tool_choice"]
	if raw == nil {
		return c, nil
	}
	var word string
	if json.Unmarshal(raw, &word) == nil {
		switch word {
		case "auto":
		case "none":
			c.Tools = nil
		case "required":
			c.Required = true
		default:
			return Choice{}, openai.BadRequest("tool_choice", openai.CodeInvalidValue, "'tool_choice' must be 'none', 'auto', 'required' or an object")
		}
		return c.check()
	}
	return c.object(raw)
}

// object reads a choice of one tool, or of some.
func (c Choice) object(raw json.RawMessage) (Choice, *openai.Error) {
	type function struct {
		Type     string `json:"type"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	var w struct {
		function
		Allowed struct {
			Mode  string     `json:"mode"`
			Tools []function `json:"tools"`
		} `json:"allowed_tools"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return Choice{}, openai.BadRequest("tool_choice", openai.CodeInvalidType, "'tool_choice' cannot be read: "+err.Error())
	}
	var names []string
	switch {
	case w.Type == "function":
		c.Required, c.Single = true, true
		names = []string{w.Function.Name}
	case w.Type == "allowed_tools" && (w.Allowed.Mode == "auto" || w.Allowed.Mode == "required"):
		c.Required = w.Allowed.Mode == "required"
		for _, t := range w.Allowed.Tools {
			names = append(names, t.Function.Name)
		}
	default:
		return Choice{}, openai.BadRequest("tool_choice", openai.CodeUnsupportedValue, "'tool_choice' must be 'none', 'auto', 'required', or an object of type 'function' or 'allowed_tools'")
	}
	for _, name := range names {
		if !slices.ContainsFunc(c.Tools, func(t Tool) bool { return t.Name == name }) {
			return Choice{}, openai.BadRequest("tool_choice", openai.CodeInvalidValue, fmt.Sprintf("'tool_choice' names the tool %q, which 'tools' lacks", name))
		}
	}
	var allowed []Tool
	for _, t := range c.Tools {
		if slices.Contains(names, t.Name) {
			allowed = append(allowed, t)
		}
	}
	c.Tools = allowed
	return c.check()
}

func (c Choice) check() (Choice, *openai.Error) {
	if c.Required && len(c.Tools) == 0 {
		return Choice{}, openai.BadRequest("tool_choice", openai.CodeInvalidValue, "'tool_choice' needs a tool that the model may call: set 'tools'")
	}
	return c, nil
}

// List returns tools as the client wrote them, as a JSON array; nil without tools.
func List(tools []Tool) json.RawMessage {
	if len(tools) == 0 {
		return nil
	}
	out := []byte{'['}
	for i, t := range tools {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, t.raw...)
	}
	return append(out, ']')
}
