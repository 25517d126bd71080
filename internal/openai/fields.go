package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
)

// fields reads a JSON object field by field. It keeps the first error in err, and
// later calls return zero values. A null is the same as no field, as in OpenAI's
// API. The object is valid JSON, and its fields share its memory.
type fields struct {
	parent *fields // nil: the outermost object, or one of its own
	field  string  // of the parent that holds the object
	index  int     // of the object in a list, or -1
	left   *int    // values that may still be read of the body
	raw    json.RawMessage
	m      map[string]json.RawMessage
	err    *Error
	// needs are what the object asks of an engine, once for each feature.
	needs []Need
	// leftOut are the parts that StandIn stands for.
	leftOut []leftOut
}

// newFields reads an object of its own.
func newFields(raw json.RawMessage) *fields {
	f := &fields{index: -1, left: new(maxValues), m: make(map[string]json.RawMessage, 8)}
	f.read(raw)
	return f
}

// object reads an object in a field. Its user adopts it.
func (f *fields) object(field string, raw json.RawMessage) *fields {
	inner := &fields{parent: f, field: field, index: -1, left: f.left, m: make(map[string]json.RawMessage, 8)}
	inner.read(raw)
	return inner
}

func (f *fields) read(raw json.RawMessage) {
	f.raw = raw
	if kindOf(raw) != "an object" {
		f.fail("", CodeInvalidType, "%s must be an object, not "+kindOf(raw))
		return
	}
	n := 0
	for key, value := range members(raw) {
		if n++; n > maxFields {
			f.fail("", CodeInvalidValue, fmt.Sprintf("%%s must not have more than %d fields", maxFields))
			return
		}
		if !f.spend() {
			return
		}
		if name, ok := unquote(key); ok {
			f.m[name] = value
		}
	}
}

// items yields the items of an array in a field, up to an error.
func (f *fields) items(field string, array json.RawMessage, most int) iter.Seq2[int, json.RawMessage] {
	return func(yield func(int, json.RawMessage) bool) {
		if array == nil {
			return
		}
		for i, raw := range elements(array) {
			if i == most {
				f.fail(field, CodeInvalidValue, fmt.Sprintf("%%s must not hold more than %d items", most))
				return
			}
			if !f.spend() || !yield(i, raw) {
				return
			}
		}
	}
}

// objects yields the objects of an array in a field, up to the first error, and adopts
// them. An object is valid until the next one.
func (f *fields) objects(field string, array json.RawMessage, most int) iter.Seq2[int, *fields] {
	return func(yield func(int, *fields) bool) {
		item := &fields{parent: f, field: field, left: f.left, m: make(map[string]json.RawMessage, 8)}
		for i, raw := range f.items(field, array, most) {
			clear(item.m)
			item.index, item.needs, item.leftOut = i, nil, nil
			item.read(raw)
			more := yield(i, item)
			f.adopt(item)
			if !more || f.err != nil {
				return
			}
		}
	}
}

// adopt takes over the error and the needs of an object inside this one.
func (f *fields) adopt(inner *fields) {
	if f.err == nil {
		f.err = inner.err
	}
	for _, n := range inner.needs {
		f.addNeed(n)
	}
	f.leftOut = append(f.leftOut, inner.leftOut...)
}

// name returns the full name of a field, or of the object itself for "".
func (f *fields) name(field string) string {
	if f.parent == nil {
		return field
	}
	path := f.parent.name(f.field)
	if f.index >= 0 {
		path = fmt.Sprintf("%s[%d]", path, f.index)
	}
	if field == "" {
		return path
	}
	return path + "." + field
}

// fail records an error of a field, unless there is one already. Format holds one %s for its quoted name.
func (f *fields) fail(field, code, format string) {
	if f.err != nil {
		return
	}
	name := f.name(field)
	quoted := "'" + name + "'"
	if name == "" {
		quoted = "the body"
	}
	f.err = BadRequest(name, code, strings.Replace(format, "%s", cut(quoted, mostParam), 1))
}

// take removes a field and returns its raw value, nil if absent or null.
func (f *fields) take(field string) json.RawMessage {
	raw, ok := f.m[field]
	if !ok || f.err != nil {
		return nil
	}
	delete(f.m, field)
	if kindOf(raw) == "null" {
		return nil
	}
	return raw
}

// has reports whether a field is there and not null.
func (f *fields) has(field string) bool {
	raw, ok := f.m[field]
	return ok && kindOf(raw) != "null"
}

func (f *fields) wrongType(field, want string, raw json.RawMessage) {
	f.fail(field, CodeInvalidType, "%s must be "+want+", not "+kindOf(raw))
}

func (f *fields) text(field string) (s string, ok bool) {
	raw := f.take(field)
	if raw == nil {
		return "", false
	}
	if s, ok = unquote(raw); !ok {
		f.wrongType(field, "a string", raw)
	}
	return s, ok
}

// boolean reads a boolean; none is false.
func (f *fields) boolean(field string) bool {
	var b bool
	raw := f.take(field)
	if raw != nil && json.Unmarshal(raw, &b) != nil {
		f.wrongType(field, "a boolean", raw)
		return false
	}
	return b
}

// number reads a number in [lo, hi].
func (f *fields) number(field string, lo, hi float64) (x float64, ok bool) {
	raw := f.take(field)
	if raw == nil {
		return 0, false
	}
	if kindOf(raw) != "a number" {
		f.wrongType(field, "a number", raw)
		return 0, false
	}
	if json.Unmarshal(raw, &x) != nil || x < lo || x > hi {
		f.fail(field, CodeInvalidValue, fmt.Sprintf("%%s must be between %g and %g", lo, hi))
		return 0, false
	}
	return x, true
}

// integer reads a whole number in [lo, hi]; 12.0 is one too.
func (f *fields) integer(field string, lo, hi int64) (n int64, ok bool) {
	raw := f.take(field)
	if raw == nil {
		return 0, false
	}
	if kindOf(raw) != "a number" {
		f.wrongType(field, "an integer", raw)
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		const exact = 1 << 53 // floats hold every integer up to here
		x, err := strconv.ParseFloat(string(raw), 64)
		switch {
		case err == nil && x != math.Trunc(x):
			f.fail(field, CodeInvalidType, "%s must be an integer, not a fraction")
			return 0, false
		case err != nil || math.Abs(x) > exact:
			f.fail(field, CodeInvalidValue, fmt.Sprintf("%%s must be between %d and %d", lo, hi))
			return 0, false
		}
		n = int64(x)
	}
	switch {
	case n < lo && hi == math.MaxInt64:
		f.fail(field, CodeInvalidValue, fmt.Sprintf("%%s must be at least %d", lo))
		return 0, false
	case n < lo || n > hi:
		f.fail(field, CodeInvalidValue, fmt.Sprintf("%%s must be between %d and %d", lo, hi))
		return 0, false
	}
	return n, true
}

// array returns an array, nil if absent or null.
func (f *fields) array(field string) json.RawMessage {
	raw := f.take(field)
	if raw != nil && kindOf(raw) != "an array" {
		f.wrongType(field, "an array", raw)
		return nil
	}
	return raw
}

// rest drops the fields that are null, and returns those that have not been read.
func (f *fields) rest() map[string]json.RawMessage {
	for k, v := range f.m {
		if kindOf(v) == "null" {
			delete(f.m, k)
		}
	}
	if len(f.m) > maxUnknown {
		f.fail("", CodeInvalidValue, fmt.Sprintf("%%s must not have more than %d fields that are not known here", maxUnknown))
	}
	return f.m
}

// kindOf names the type of a JSON value, with its article.
func kindOf(raw json.RawMessage) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
