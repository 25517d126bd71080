package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// fields reads a JSON object field by field. It keeps the first error in err, and
// later calls return zero values. A null is the same as no field, as in OpenAI's
// API. The object is valid JSON, and its fields share its memory.
type fields struct {
	path string // of the object, "" for the outermost
	m    map[string]json.RawMessage
	err  *Error
	// needs are what the object asks of an engine.
	needs []Need
	// leftOut are the parts that StandIn stands for.
	leftOut []leftOut
}

func newFields(path string, raw json.RawMessage) *fields {
	f := &fields{path: path}
	if kindOf(raw) != "an object" {
		f.fail("", CodeInvalidType, "%s must be an object, not "+kindOf(raw))
		return f
	}
	f.m = splitObject(raw)
	return f
}

// name returns the full name of a field, or of the object itself for "".
func (f *fields) name(field string) string {
	switch {
	case field == "":
		return f.path
	case f.path == "":
		return field
	}
	return f.path + "." + field
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
	f.err = BadRequest(name, code, fmt.Sprintf(format, quoted))
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

func (f *fields) array(field string) (items []json.RawMessage, ok bool) {
	raw := f.take(field)
	if raw == nil {
		return nil, false
	}
	if kindOf(raw) != "an array" {
		f.wrongType(field, "an array", raw)
		return nil, false
	}
	return splitArray(raw), true
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
