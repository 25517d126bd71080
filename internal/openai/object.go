package openai

import (
	"bytes"
	"encoding/json"
	"iter"
)

// An Object reads a JSON object field by field, for the parsers of other dialects. It
// keeps the first error; later calls return zero values. A null is the same as no
// field. Each field can be read once.
type Object struct{ *fields }

// ParseObject reads a whole body.
func ParseObject(body []byte) (Object, error) {
	if err := check(body); err != nil {
		return Object{}, err
	}
	o := Object{newFields(body)}
	return o, o.Err()
}

// NewObject reads an object that is known to be valid JSON, such as one that is stored.
func NewObject(raw json.RawMessage) Object { return Object{newFields(raw)} }

// Inner reads an object in a field that Take has returned. Its user adopts it.
func (o Object) Inner(field string, raw json.RawMessage) Object { return Object{o.object(field, raw)} }

// Object returns the raw value of a field that must be an object, nil if absent or null. It
// does not read the object, which may have any fields.
func (o Object) Object(field string) json.RawMessage {
	raw := o.take(field)
	if raw != nil && kindOf(raw) != "an object" {
		o.wrongType(field, "an object", raw)
		return nil
	}
	return raw
}

// Err returns the first error.
func (o Object) Err() error {
	if o.err == nil { // a nil *Error is no nil error
		return nil
	}
	return o.err
}

// Raw returns the object as it came.
func (o Object) Raw() json.RawMessage { return o.raw }

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

// Array returns the raw value of a field that must be an array, nil if absent or null.
func (o Object) Array(field string) json.RawMessage { return o.array(field) }

// Items yields the items of an array in a field, up to an error: one that has more items
// than the most is an error.
func (o Object) Items(field string, array json.RawMessage, most int) iter.Seq2[int, json.RawMessage] {
	return o.items(field, array, most)
}

// Objects is Items for an array of objects. It adopts each of them, and one is valid until
// the next.
func (o Object) Objects(field string, array json.RawMessage, most int) iter.Seq2[int, Object] {
	return func(yield func(int, Object) bool) {
		for i, item := range o.objects(field, array, most) {
			if !yield(i, Object{item}) {
				return
			}
		}
	}
}

// TextOrArray returns a string, or else the raw value of an array.
func (o Object) TextOrArray(field, want string) (text string, array json.RawMessage, isText bool) {
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
	return "", raw, false
}

// Rest returns the fields that have not been read and are not null. Too many are an error.
func (o Object) Rest() map[string]json.RawMessage { return o.rest() }

// Without returns the object without some fields, and with others set.
func (o Object) Without(set map[string]json.RawMessage, fields ...string) ([]byte, error) {
	out := make(map[string]any, len(o.m)+len(set))
	for name, raw := range o.m {
		out[name] = raw
	}
	for _, name := range fields {
		delete(out, name)
	}
	for name, raw := range set {
		out[name] = raw
	}
	const added = 64
	b := bytes.NewBuffer(make([]byte, 0, len(o.raw)+added))
	err := writeObject(b, out)
	return b.Bytes(), err
}

// IsEmpty reports whether raw is an array or an object with nothing in it.
func IsEmpty(raw json.RawMessage) bool { return isEmpty(raw) }

// Unquote reads a string of a body that ParseObject has read; ok is false if raw is
// another type.
func Unquote(raw json.RawMessage) (s string, ok bool) { return unquote(raw) }
