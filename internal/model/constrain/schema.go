package constrain

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	name string // after those of rules
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

// compileSchema returns the rule of a schema. The graph is not checked yet. The name of
// the schema ends the names of its rules.
func compileSchema(g *graph, name string, raw []byte) (int32, error) {
	if len(raw) > maxSchema {
		return 0, &SchemaError{"", fmt.Sprintf("it has %d bytes, want at most %d", len(raw), maxSchema)}
	}
	left := g.budget.bytes
	root, err := parseValue(raw, g.budget)
	if errors.Is(err, errGone) {
		return 0, err
	}
	if err != nil {
		return 0, &SchemaError{"", err.Error()}
	}
	parsed := left - g.budget.bytes
	c := &compiler{g: g, name: name, root: root, refs: map[string]int32{}, shared: map[string]int32{}}
	rule := c.ref("", root)
	for len(c.waiting) > 0 {
		w := c.waiting[0]
		c.waiting = c.waiting[1:]
		var err error
		g.build(w.rule, func(end int32) (start int32) {
			start, err = c.schema(w.schema, w.pointer, end)
			return start
		})
		if err == nil && g.err != nil {
			err = c.fail(w.pointer)
		}
		if err != nil {
			return 0, err
		}
	}
	g.budget.bytes += parsed // which is free now
	return rule, nil
}

// fail returns the error of the graph at a part of the schema.
func (c *compiler) fail(pointer string) error {
	if errors.Is(c.g.err, errGone) {
		return c.g.err
	}
	return &SchemaError{pointer, c.g.err.Error()}
}

// below returns the pointer to a part of a schema. It takes as much work as it is long.
func (c *compiler) below(pointer string, parts ...string) string {
	for _, part := range parts {
		pointer += "/" + escapePointer(part)
	}
	c.g.spend(len(pointer))
	return pointer
}

// ref returns the rule of the schema at a pointer.
func (c *compiler) ref(pointer string, schema value) int32 {
	if r, ok := c.refs[pointer]; ok {
		return r
	}
	r := c.newRule(pointer)
	c.g.take(ruleMemory + len(pointer))
	c.refs[pointer] = r
	c.waiting = append(c.waiting, waiting{r, schema, pointer})
	return r
}

// maxName limits the pointers in the names of rules.
const maxName = 128

// newRule reserves the rule of a part of the schema.
func (c *compiler) newRule(pointer string) int32 {
	if len(pointer) > maxName { // it is for errors
		pointer = strings.ToValidUTF8(pointer[:maxName], "") + "..."
	}
	return c.g.newRule(fmt.Sprintf("%q%s", "#"+pointer, c.name))
}

// annotations do not limit values.
var annotations = []string{
	"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "$schema", "$id",
	"$defs", "definitions", "contentMediaType", "contentEncoding",
}

// keyWork is the work to look for a keyword.
const keyWork = 16

// only refuses keywords beside annotations and the given ones.
func (c *compiler) only(o *object, pointer string, keywords ...string) error {
	for _, key := range o.keys {
		if !c.g.spend(keyWork) {
			return c.fail(pointer)
		}
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
	if !c.g.spend(keyWork) {
		return 0, c.fail(pointer)
	}
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
	types, err := c.typesOf(o, pointer)
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

// reference adds the values of the schema that $ref names.
func (c *compiler) reference(o *object, pointer string, next int32) (int32, error) {
	if err := c.only(o, pointer, "$ref"); err != nil {
		return 0, err
	}
	ref := o.get("$ref")
	fail := func(format string, args ...any) (int32, error) {
		return 0, &SchemaError{pointer + "/$ref", fmt.Sprintf(format, args...)}
	}
	if ref.text == nil {
		return fail("it must be a string")
	}
	target, local := localPointer(*ref.text)
	if !local {
		return fail("%.100q is not a JSON pointer in this schema, such as \"#/$defs/name\"", *ref.text)
	}
	c.g.spend(8 * len(target))
	schema, ok := c.root.find(target)
	if !ok {
		return fail("there is nothing at %.100q", *ref.text)
	}
	return c.g.call(c.ref(target, schema), next), nil
}

// localPointer returns the JSON pointer of a reference into the schema itself.
func localPointer(ref string) (pointer string, ok bool) {
	pointer, ok = strings.CutPrefix(ref, "#")
	return pointer, ok && (pointer == "" || pointer[0] == '/')
}

// anyOf adds the values of several schemas.
func (c *compiler) anyOf(o *object, pointer string, next int32) (int32, error) {
	if err := c.only(o, pointer, "anyOf"); err != nil {
		return 0, err
	}
	list := o.get("anyOf").array
	pointer = c.below(pointer, "anyOf")
	if len(list) == 0 {
		return 0, &SchemaError{pointer, "it must be an array of schemas that is not empty"}
	}
	if len(c.alternatives(&value{object: o})) > maxUnion {
		return 0, &SchemaError{pointer, fmt.Sprintf("it has more than %d alternatives, with those of unions inside of it", maxUnion)}
	}
	starts := make([]int32, len(list))
	for i, schema := range list {
		var err error
		if starts[i], err = c.schema(schema, c.below(pointer, strconv.Itoa(i)), next); err != nil {
			return 0, err
		}
	}
	return c.g.either(starts), nil
}

// typesOf returns the types that a schema allows. Keywords of one type alone imply
// that type; without any, there is no type.
func (c *compiler) typesOf(o *object, pointer string) ([]string, error) {
	list, ok := o.find("type")
	c.g.spend(keyWork * (len(o.keys) + len(list.array)))
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
	return c.only(o, pointer, allowed...)
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
