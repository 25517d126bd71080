package constrain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// A value is a JSON value whose object keeps the order of its members. Exactly
// one field is set, or none for null.
type value struct {
	object  *object
	array   []value // not nil
	text    *string
	number  json.Number
	boolean *bool
}

type object struct {
	keys   []string // in order
	values map[string]value
}

// maxDepth limits the nesting of schemas.
const maxDepth = 64

// parseValue reads one JSON value.
func parseValue(raw []byte) (value, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := readValue(d, 0)
	if err != nil {
		return value{}, fmt.Errorf("it is not valid JSON: %w", err)
	}
	if d.More() {
		return value{}, errors.New("it is not valid JSON: text follows the value")
	}
	return v, nil
}

func readValue(d *json.Decoder, depth int) (value, error) {
	if depth > maxDepth {
		return value{}, fmt.Errorf("the nesting is more than %d levels", maxDepth)
	}
	t, err := d.Token()
	if err != nil {
		return value{}, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '[' {
			return readArray(d, depth)
		}
		return readObject(d, depth)
	case string:
		return value{text: &t}, nil
	case json.Number:
		return value{number: t}, nil
	case bool:
		return value{boolean: &t}, nil
	}
	return value{}, nil
}

func readArray(d *json.Decoder, depth int) (value, error) {
	out := value{array: []value{}}
	for d.More() {
		v, err := readValue(d, depth+1)
		if err != nil {
			return value{}, err
		}
		out.array = append(out.array, v)
	}
	_, err := d.Token()
	return out, err
}

func readObject(d *json.Decoder, depth int) (value, error) {
	o := &object{values: map[string]value{}}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return value{}, err
		}
		key, _ := t.(string) // the decoder allows no other
		v, err := readValue(d, depth+1)
		if err != nil {
			return value{}, err
		}
		if _, twice := o.values[key]; twice {
			return value{}, fmt.Errorf("an object has two members %q", key)
		}
		o.keys = append(o.keys, key)
		o.values[key] = v
	}
	_, err := d.Token()
	return value{object: o}, err
}

// kind returns the type of JSON Schema.
func (v value) kind() string {
	switch {
	case v.object != nil:
		return "object"
	case v.array != nil:
		return "array"
	case v.text != nil:
		return "string"
	case v.number != "":
		return "number"
	case v.boolean != nil:
		return "boolean"
	}
	return "null"
}

// quote returns the JSON of a string, with as few escapes as possible.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // strings always encode
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
