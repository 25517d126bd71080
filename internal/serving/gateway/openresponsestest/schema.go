// Package openresponsestest validates what tests get by the schema of the Open
// Responses specification.
package openresponsestest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed openapi.json
var openapi []byte

// compiler compiles schemas of the specification, which it reads once. It is not safe
// for concurrent use.
var compiler = sync.OnceValues(func() (*jsonschema.Compiler, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(openapi))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	return c, c.AddResource("openapi.json", doc)
})

// compiling is held while a schema is compiled.
var compiling sync.Mutex

// Check returns why a value of JSON is none of a schema of the specification.
func Check(name, value string) error {
	schema, err := compile(name)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
	if err != nil {
		return fmt.Errorf("%q: %w", value, err)
	}
	if err := schema.Validate(v); err != nil {
		return fmt.Errorf("%s is no %s: %w", value, name, err)
	}
	return nil
}

func compile(name string) (*jsonschema.Schema, error) {
	compiling.Lock()
	defer compiling.Unlock()
	c, err := compiler()
	if err != nil {
		return nil, err
	}
	return c.Compile("openapi.json#/components/schemas/" + name)
}

// CheckEvent returns why the data of an event is none of the specification, with the
// response that it may have.
func CheckEvent(data string) error {
	var e struct {
		Type     string
		Response json.RawMessage
	}
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return err
	}
	schemas, err := eventSchemas()
	if err != nil {
		return err
	}
	if ours, ok := asOpenAI[e.Type]; ok { // its clients do not know the name of the specification
		data, e.Type = strings.Replace(data, e.Type, ours, 1), ours
	}
	if schemas[e.Type] == "" {
		return fmt.Errorf("the specification has no event %s", data)
	}
	if err := Check(schemas[e.Type], data); err != nil || e.Response == nil {
		return err
	}
	return Check("ResponseResource", string(e.Response))
}

// asOpenAI are the names of events that the specification spells in another way than
// OpenAI, whose own clients refuse those of the specification.
var asOpenAI = map[string]string{
	"response.reasoning_text.delta": "response.reasoning.delta",
	"response.reasoning_text.done":  "response.reasoning.done",
}

// eventSchemas are the schemas of events by type.
var eventSchemas = sync.OnceValues(func() (map[string]string, error) {
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties struct {
					Type struct{ Enum []string }
				}
			}
		}
	}
	if err := json.Unmarshal(openapi, &doc); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, s := range doc.Components.Schemas {
		if strings.HasSuffix(name, "StreamingEvent") {
			out[s.Properties.Type.Enum[0]] = name
		}
	}
	return out, nil
})
