package openai

import "encoding/json"

// An Object reads a JSON object field by field, for the parsers of other dialects. It
// keeps the first error; later calls return zero values. A null is the same as no
// field. Each field can be read once.
type Object struct{ *fields }

// ParseObject reads a whole body.
func ParseObject(body []byte) (Object, error) {
	if !json.Valid(body) {
		return Object{}, BadRequest("", CodeInvalidJSON, "the body is not valid JSON: "+syntax(body))
	}
	o := Object{newFields("", body)}
	return o, o.Err()
}

// NewObject reads a part of a body that ParseObject has read. The path names it in errors.
func NewObject(path string, raw json.RawMessage) Object { return Object{newFields(path, raw)} }

// Err returns the first error.
func (o Object) Err() error {
	if o.err == nil { // a nil *Error is no nil error
		return nil
	}
	return o.err
}

// Name returns the full name of a field, or of the object itself for "".
func (o Object) Name(field string) string { return o.name(field) }

// Fail records an error of a field. Format holds one %s for its quoted name.
func (o Object) Fail(field, code, format string) { o.fail(field, code, format) }

// Adopt takes over the error of an object inside this one.
func (o Object) Adopt(inner Object) { o.adopt(inner.fields) }

// Has reports whether a field is there and not null.
func (o Object) Has(field string) bool { return o.has(field) }

// Take returns the raw value of a field, nil if absent or null.
func (o Object) Take(field string) json.RawMessage { return o.take(field) }

// Text returns a string.
func (o Object) Text(field string) (string, bool) { return o.text(field) }

// Boolean returns a boolean, and otherwise what a request without the field means.
func (o Object) Boolean(field string, otherwise bool) bool {
	if !o.has(field) {
		return otherwise
	}
	return o.boolean(field)
}

// Number returns a number in [lo, hi].
func (o Object) Number(field string, lo, hi float64) (float64, bool) { return o.number(field, lo, hi) }

// Integer returns a whole number in [lo, hi].
func (o Object) Integer(field string, lo, hi int64) (int64, bool) { return o.integer(field, lo, hi) }

// Array returns the items of an array.
func (o Object) Array(field string) ([]json.RawMessage, bool) { return o.array(field) }

// TextOrArray returns a string, or else the items of an array.
func (o Object) TextOrArray(field, want string) (text string, items []json.RawMessage, isText bool) {
	raw := o.take(field)
	if raw == nil {
		return "", nil, false
	}
	if text, isText = unquote(raw); isText {
		return text, nil, true
	}
	if kindOf(raw) != "an array" {
		o.wrongType(field, want, raw)
		return "", nil, false
	}
	return "", splitArray(raw), false
}

// Rest returns the fields that have not been read and are not null.
func (o Object) Rest() map[string]json.RawMessage {
	dropNulls(o.m)
	return o.m
}

// Unquote reads a string of a body that ParseObject has read; ok is false if raw is
// another type.
func Unquote(raw json.RawMessage) (s string, ok bool) { return unquote(raw) }
