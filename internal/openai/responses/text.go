package responses

import (
	"cmp"
	"encoding/json"

	"github.com/gorizond/koldun/internal/openai"
)

// A Text is the parameter text: what the text of the answer looks like.
type Text struct {
	Format    Format `json:"format"`
	Verbosity string `json:"verbosity,omitempty"`
}

// A Format is text, json_object or json_schema.
type Format struct {
	Type        string
	Name        string
	Description *string
	Schema      json.RawMessage
	Strict      *bool
}

// MarshalJSON writes the format as the response repeats it. The specification has
// no place for the schema there but a null.
func (f Format) MarshalJSON() ([]byte, error) {
	if f.Type != "json_schema" {
		return json.Marshal(map[string]string{"type": f.Type})
	}
	return json.Marshal(map[string]any{
		"type": f.Type, "name": f.Name, "description": f.Description, "schema": nil, "strict": f.Strict != nil && *f.Strict,
	})
}

func (r *Request) parseText(o openai.Object) {
	r.text.Format.Type = "text"
	raw := o.Take("text")
	if raw == nil {
		return
	}
	t := o.Inner("text", raw)
	if t.Has("verbosity") {
		r.text.Verbosity = word(t, "verbosity", "medium", "low", "high")
	}
	if raw := t.Take("format"); raw != nil {
		f := t.Inner("format", raw)
		r.text.Format = parseFormat(f)
		t.Adopt(f)
	}
	o.Adopt(t)
}

func parseFormat(o openai.Object) Format {
	f := Format{Type: word(o, "type", "text", "json_object", "json_schema")}
	if f.Type != "json_schema" {
		return f
	}
	if f.Name, _ = o.Text("name"); !isFunctionName(f.Name) {
		o.Fail("name", openai.CodeInvalidValue, "%s is required: up to 64 letters, digits, _ and -")
	}
	if text, ok := o.Text("description"); ok {
		f.Description = &text
	}
	if o.Has("strict") {
		f.Strict = new(o.Boolean("strict", false))
	}
	if f.Schema = o.Object("schema"); f.Schema == nil {
		o.Fail("schema", openai.CodeMissing, "%s is required: a JSON schema")
	}
	return f
}

// chat returns the format as chats have it, nil for plain text.
func (f Format) chat() any {
	switch f.Type {
	case "json_object":
		return map[string]string{"type": f.Type}
	case "json_schema":
		schema := map[string]any{"name": f.Name, "schema": f.Schema}
		if f.Description != nil {
			schema["description"] = *f.Description
		}
		if f.Strict != nil {
			schema["strict"] = *f.Strict
		}
		return map[string]any{"type": f.Type, "json_schema": schema}
	}
	return nil
}

// A Reasoning is the parameter reasoning.
type Reasoning struct {
	Effort  *string `json:"effort"`
	Summary *string `json:"summary"`
}

// summarized reports whether the client wants a summary of the thoughts.
func (r *Request) summarized() bool { return r.reasoning != nil && r.reasoning.Summary != nil }

// nearest are the efforts of the specification for those that only OpenAI has.
var nearest = map[string]string{"minimal": "low", "max": "xhigh"}

func (r *Request) parseReasoning(o openai.Object) {
	raw := o.Take("reasoning")
	if raw == nil {
		return
	}
	r.reasoning = &Reasoning{}
	p := o.Inner("reasoning", raw)
	if p.Has("effort") {
		effort := word(p, "effort", "none", "minimal", "low", "medium", "high", "xhigh", "max")
		r.reasoning.Effort = new(cmp.Or(nearest[effort], effort))
	}
	if p.Has("summary") {
		r.reasoning.Summary = new(word(p, "summary", "auto", "concise", "detailed"))
	}
	o.Adopt(p)
}
