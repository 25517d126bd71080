package engineapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
)

// ErrSchema means that the answer of a server does not fulfil the strict schema of
// its request. The server itself works.
var ErrSchema = errors.New("the answer of the server does not fulfil the schema of the request")

// maxChecked limits the text that a check keeps.
const maxChecked = 8 << 20

// maxCheckedSchema limits the text of a schema that is checked, as the embedded engine does.
const maxCheckedSchema = 256 << 10

// A schemaCheck keeps the text of an answer and compares it with a strict schema.
type schemaCheck struct {
	schema *jsonschema.Schema
	effort *effort
	think  openai.ThinkFilter
	text   bytes.Buffer
	other  bool // the answer calls tools, or is a refusal
}

// newSchemaCheck returns the check that response_format asks for, or nil. The error
// is for the client.
func newSchemaCheck(format json.RawMessage) (*schemaCheck, error) {
	var f struct {
		JSONSchema struct {
			Strict bool            `json:"strict"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	}
	if format != nil {
		_ = json.Unmarshal(format, &f) // the server says what is wrong with another shape
	}
	if !f.JSONSchema.Strict || len(f.JSONSchema.Schema) == 0 {
		return nil, nil
	}
	if n := len(f.JSONSchema.Schema); n > maxCheckedSchema {
		return nil, badSchema(fmt.Errorf("it has %d bytes, want at most %d with 'strict'", n, maxCheckedSchema))
	}
	e := &effort{left: maxEffort}
	s, err := compileSchema(f.JSONSchema.Schema, e)
	if err != nil {
		return nil, badSchema(err)
	}
	return &schemaCheck{schema: s, effort: e}, nil
}

func badSchema(err error) *openai.Error {
	return openai.BadRequest("response_format", openai.CodeInvalidValue, fmt.Sprintf("'response_format.json_schema.schema' cannot be used: %v", cause(err)))
}

// cause returns what is wrong with an expression in a schema, without the expression, which may
// be long. Other errors stay as they are.
func cause(err error) error {
	var of *jsonschema.SchemaValidationError
	var at *jsonschema.ValidationError
	if !errors.As(err, &of) || !errors.As(of.Err, &at) {
		return err
	}
	for len(at.Causes) > 0 {
		at = at.Causes[0]
	}
	if format, ok := at.ErrorKind.(*kind.Format); ok && format.Err != nil {
		return fmt.Errorf("at /%.200s: %w", strings.Join(at.InstanceLocation, "/"), format.Err)
	}
	return err
}

func compileSchema(raw []byte, e *effort) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	const name = "response_format.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseRegexpEngine(e.pattern)
	c.RegisterVocabulary(e.vocabulary())
	c.AssertVocabs()
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// noLoader loads no other schemas: neither files nor URLs.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("there is no schema %s here", url)
}

// add takes a piece of the answer.
func (c *schemaCheck) add(d Delta) {
	if d.Parts != nil && (len(d.Parts.ToolCalls) > 0 || d.Parts.Refusal != "") {
		c.other = true
	}
	_, text := c.think.Push(d.Text)
	if c.think.Misplaced() {
		c.text.Reset()
	}
	if c.text.Len() < maxChecked {
		c.text.WriteString(text)
	}
}

// verify checks the whole answer. One that was cut off, calls tools or is a refusal
// has no schema. The error is for the client if the schema takes too long to check.
func (c *schemaCheck) verify(finish string) error {
	if c.other || finish != openai.FinishStop {
		return nil
	}
	_, rest := c.think.Rest()
	c.text.WriteString(rest)
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(c.text.String()))
	if err == nil {
		err = c.effort.within(func() error { return c.schema.Validate(value) })
	}
	if errors.Is(err, errEffort) {
		return fault.As(fault.Invalid, badSchema(err))
	}
	if err != nil {
		return fault.As(fault.Corrupt, fmt.Errorf("%w: %w", ErrSchema, err))
	}
	return nil
}
