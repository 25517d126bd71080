package constrain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	keys   []string         // in order
	values []value          // of the keys
	places map[string]int32 // of the keys, if they are many

	counted      bool     // alternatives is known
	alternatives []*value // of a union
}

// fewKeys are as many as are found faster without a table.
const fewKeys = 8

func (o *object) place(key string) int {
	if o.places != nil {
		if at, ok := o.places[key]; ok {
			return int(at)
		}
		return -1
	}
	return slices.Index(o.keys, key)
}

func (o *object) has(key string) bool { return o.place(key) >= 0 }

// find returns the value of a key.
func (o *object) find(key string) (value, bool) {
	if at := o.place(key); at >= 0 {
		return o.values[at], true
	}
	return value{}, false
}

// get returns the value of a key, or null.
func (o *object) get(key string) value {
	v, _ := o.find(key)
	return v
}

func (o *object) add(key string, v value) {
	o.keys, o.values = append(o.keys, key), append(o.values, v)
	switch {
	case o.places != nil:
		o.places[key] = int32(len(o.keys) - 1)
	case len(o.keys) > fewKeys:
		o.places = map[string]int32{}
		for i, k := range o.keys {
			o.places[k] = int32(i)
		}
	}
}

// maxDepth limits the nesting of schemas.
const maxDepth = 64

// Bytes of the parts of a value.
const (
	objectMemory  = 96
	memberMemory  = 160
	elementMemory = 112
)

// A reader reads JSON within a budget.
type reader struct {
	*json.Decoder
	budget *budget
}

// parseValue reads one JSON value.
func parseValue(raw []byte, b *budget) (value, error) {
	r := reader{json.NewDecoder(bytes.NewReader(raw)), b}
	r.UseNumber()
	v, err := r.value(0)
	switch {
	case b.err != nil:
		return value{}, b.exceeded()
	case err != nil:
		return value{}, fmt.Errorf("it is not valid JSON: %w", err)
	case r.More():
		return value{}, errors.New("it is not valid JSON: text follows the value")
	}
	return v, nil
}

// next returns the next token, and charges it.
func (r reader) next(memory int) (json.Token, error) {
	t, err := r.Token()
	work := 16
	switch t := t.(type) {
	case string:
		work, memory = work+len(t)/4, memory+len(t)
	case json.Number:
		work, memory = work+len(t)/4, memory+len(t)
	}
	if err == nil && (!r.budget.spend(work) || !r.budget.take(memory)) {
		err = r.budget.err
	}
	return t, err
}

func (r reader) value(depth int) (value, error) {
	if depth > maxDepth {
		return value{}, fmt.Errorf("the nesting is more than %d levels", maxDepth)
	}
	t, err := r.next(elementMemory)
	if err != nil {
		return value{}, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '[' {
			return r.array(depth)
		}
		return r.object(depth)
	case string:
		return value{text: &t}, nil
	case json.Number:
		return value{number: t}, nil
	case bool:
		return value{boolean: &t}, nil
	}
	return value{}, nil
}

func (r reader) array(depth int) (value, error) {
	out := value{array: []value{}}
	for r.More() {
		v, err := r.value(depth + 1)
		if err != nil {
			return value{}, err
		}
		out.array = append(out.array, v)
	}
	_, err := r.next(0)
	return out, err
}

func (r reader) object(depth int) (value, error) {
	r.budget.take(objectMemory)
	o := &object{}
	for r.More() {
		t, err := r.next(memberMemory)
		if err != nil {
			return value{}, err
		}
		key, _ := t.(string) // the decoder allows no other
		v, err := r.value(depth + 1)
		if err != nil {
			return value{}, err
		}
		if o.has(key) {
			return value{}, fmt.Errorf("an object has two members %.100q", key)
		}
		o.add(key, v)
	}
	_, err := r.next(0)
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
