package constrain

import (
	"fmt"
	"slices"
	"strings"
)

// A SchemaError reports the part of a schema that a grammar cannot express.
type SchemaError struct {
	Pointer string // JSON pointer to the schema, or to its keyword
	Reason  string
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("the schema cannot be used at %q: %s", "#"+e.Pointer, e.Reason)
}

// maxSchema limits the text of a schema.
const maxSchema = 256 << 10

// A compiler writes a schema to a graph.
type compiler struct {
	g    *graph
	root value
	// refs has the rule of each schema that a $ref names, and shared that of each
	// pattern, format or interval.
	refs, shared map[string]int32
	waiting      []waiting
}

// A waiting rule has no body yet.
type waiting struct {
	rule    int32
	schema  value
	pointer string
}

// compileSchema returns the rule of a schema. The graph is not checked yet.
func compileSchema(g *graph, raw []byte) (int32, error) {
	if len(raw) > maxSchema {
		return 0, &SchemaError{"", fmt.Sprintf("it has %d bytes, want at most %d", len(raw), maxSchema)}
	}
	root, err := parseValue(raw)
	if err != nil {
		return 0, &SchemaError{"", err.Error()}
	}
	c := &compiler{g: g, root: root, refs: map[string]int32{}, shared: map[string]int32{}}
	rule := c.ref("", root)
	for len(c.waiting) > 0 {
		w := c.waiting[0]
		c.waiting = c.waiting[1:]
		start, err := c.schema(w.schema, w.pointer, g.end())
		if err != nil {
			return 0, err
		}
		if g.err != nil {
			return 0, &SchemaError{w.pointer, g.err.Error()}
		}
		g.rules[w.rule].start = start
	}
	return rule, nil
}

// ref returns the rule of the schema at a pointer.
func (c *compiler) ref(pointer string, schema value) int32 {
	if r, ok := c.refs[pointer]; ok {
		return r
	}
	r := c.g.newRule(fmt.Sprintf("%q", "#"+pointer))
	c.refs[pointer] = r
	c.waiting = append(c.waiting, waiting{r, schema, pointer})
	return r
}

// annotations do not limit values.
var annotations = []string{
	"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "$schema", "$id",
	"$defs", "definitions", "contentMediaType", "contentEncoding",
}

// only refuses keywords beside annotations and the given ones.
func only(o *object, pointer string, keywords ...string) error {
	for _, key := range o.keys {
		if slices.Contains(annotations, key) || slices.Contains(keywords, key) || strings.HasPrefix(key, "x-") {
			continue
		}
		if len(keywords) > 0 && slices.Contains(supported, key) {
			return &SchemaError{pointer + "/" + escapePointer(key), fmt.Sprintf("%q cannot stand beside %q", key, keywords[0])}
		}
		return &SchemaError{pointer + "/" + escapePointer(key), fmt.Sprintf("%q is not supported", key)}
	}
	return nil
}

// schema adds the values that a schema allows.
func (c *compiler) schema(s value, pointer string, next int32) (int32, error) {
	if s.boolean != nil && *s.boolean {
		return c.g.call(ruleValue, next), nil
	}
	if s.object == nil {
		return 0, &SchemaError{pointer, "it must be an object or true, not " + s.kind()}
	}
	o := s.object
	switch {
	case o.has("$ref"):
		return c.reference(o, pointer, next)
	case o.has("enum"), o.has("const"):
		return c.constants(o, pointer, next)
	case o.has("anyOf"):
		return c.anyOf(o, pointer, next)
	}
	types, err := typesOf(o, pointer)
	if err != nil {
		return 0, err
	}
	if err := c.checkKeywords(o, types, pointer); err != nil {
		return 0, err
	}
	starts := make([]int32, len(types))
	for i, t := range types {
		if starts[i], err = c.typed(o, t, pointer, next); err != nil {
			return 0, err
		}
	}
	return c.g.either(starts), nil
}

func (o *object) has(key string) bool {
	_, ok := o.values[key]
	return ok
}

// reference adds the values of the schema that $ref names.
func (c *compiler) reference(o *object, pointer string, next int32) (int32, error) {
	if err := only(o, pointer, "$ref"); err != nil {
		return 0, err
	}
	ref := o.values["$ref"]
	fail := func(format string, args ...any) (int32, error) {
		return 0, &SchemaError{pointer + "/$ref", fmt.Sprintf(format, args...)}
	}
	if ref.text == nil {
		return fail("it must be a string")
	}
	target, local := strings.CutPrefix(*ref.text, "#")
	if !local || target != "" && target[0] != '/' {
		return fail("%.100q is not a JSON pointer in this schema, such as \"#/$defs/name\"", *ref.text)
	}
	schema, ok := c.root.find(target)
	if !ok {
		return fail("there is nothing at %.100q", *ref.text)
	}
	return c.g.call(c.ref(target, schema), next), nil
}

// anyOf adds the values of several schemas.
func (c *compiler) anyOf(o *object, pointer string, next int32) (int32, error) {
	if err := only(o, pointer, "anyOf"); err != nil {
		return 0, err
	}
	list := o.values["anyOf"].array
	pointer += "/anyOf"
	if len(list) == 0 {
		return 0, &SchemaError{pointer, "it must be an array of schemas that is not empty"}
	}
	starts := make([]int32, len(list))
	for i, schema := range list {
		var err error
		if starts[i], err = c.schema(schema, fmt.Sprintf("%s/%d", pointer, i), next); err != nil {
			return 0, err
		}
	}
	return c.g.either(starts), nil
}

// typesOf returns the types that a schema allows. Keywords of one type alone imply
// that type; without any, there is no type.
func typesOf(o *object, pointer string) ([]string, error) {
	list, ok := o.values["type"]
	if !ok {
		for _, t := range jsonTypes {
			if slices.ContainsFunc(o.keys, func(key string) bool { return slices.Contains(keywordsOf[t], key) }) {
				return []string{t}, nil
			}
		}
		return []string{"any"}, nil
	}
	if list.text != nil {
		list = value{array: []value{list}}
	}
	var out []string
	for _, t := range list.array {
		if t.text == nil || !slices.Contains(jsonTypes, *t.text) {
			return nil, &SchemaError{pointer + "/type", "it must be one or several of " + strings.Join(jsonTypes, ", ")}
		}
		out = append(out, *t.text)
	}
	if len(out) == 0 {
		return nil, &SchemaError{pointer + "/type", "it must not be empty"}
	}
	if slices.Contains(out, "number") { // which includes integers
		out = slices.DeleteFunc(out, func(t string) bool { return t == "integer" })
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

var jsonTypes = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

var ofNumbers = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}

// keywordsOf has the keywords that apply to each type.
var keywordsOf = map[string][]string{
	"object":  {"properties", "required", "additionalProperties"},
	"array":   {"items", "prefixItems", "minItems", "maxItems", "uniqueItems"},
	"string":  {"pattern", "format"},
	"number":  ofNumbers,
	"integer": ofNumbers,
}

// supported are the keywords beside annotations.
var supported = append([]string{
	"type", "$ref", "enum", "const", "anyOf", "properties", "required", "additionalProperties",
	"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "pattern", "format",
}, ofNumbers...)

// checkKeywords refuses keywords that are not supported. Those of other types have
// no effect.
func (c *compiler) checkKeywords(o *object, types []string, pointer string) error {
	allowed := supported
	if types[0] == "any" {
		allowed = []string{"type"}
	}
	return only(o, pointer, allowed...)
}

// typed adds the values of one type that a schema allows.
func (c *compiler) typed(o *object, kind, pointer string, next int32) (int32, error) {
	switch kind {
	case "object":
		return c.object(o, pointer, next)
	case "array":
		return c.array(o, pointer, next)
	case "string":
		return c.text(o, pointer, next)
	case "number", "integer":
		return c.number(o, kind, pointer, next)
	case "boolean":
		return c.g.either([]int32{c.g.literal("true", next), c.g.literal("false", next)}), nil
	case "null":
		return c.g.literal("null", next), nil
	}
	return c.g.call(ruleValue, next), nil
}
