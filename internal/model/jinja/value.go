package jinja

import (
	"math/big"
	"strings"
)

// A Value is a value of a template: None, a bool, a number, a text, a list, a
// dict, or one of the objects that templates make. The functions Text, Literal,
// List, Dict, Bool, None and Decode return Values.
type Value interface {
	typeName() string // in Python, for errors
}

type (
	none     struct{}
	boolean  bool
	integer  int64
	bigInt   struct{ *big.Int } // outside of integer
	float    float64
	list     struct{ items []Value }
	interval struct{ start, stop, step int64 } // range(start, stop, step)

	tuple struct {
		items []Value
		names []string // of the items, or nil
	}

	// A view shows the keys, values or items of a dict.
	view struct {
		kind  string // "dict_keys", "dict_values" or "dict_items"
		items []Value
	}

	// A generator gives each of its items once.
	generator struct {
		name string // of the type
		next func(*run) (Value, bool)
	}

	// A namespace has attributes that set can assign.
	namespace struct{ attrs *dict }

	// A builtin is a function or a method.
	builtin struct {
		name   string
		params params
		call   func(r *run, args []Value) Value
		raw    func(r *run, a arguments) Value // instead of params and call
	}

	// An undefined is the result of a name or attribute that does not exist. It
	// prints as an empty text; most operations on it fail.
	undefined struct{ message string }
)

func (none) typeName() string         { return "NoneType" }
func (boolean) typeName() string      { return "bool" }
func (integer) typeName() string      { return "int" }
func (bigInt) typeName() string       { return "int" }
func (float) typeName() string        { return "float" }
func (*list) typeName() string        { return "list" }
func (tuple) typeName() string        { return "tuple" }
func (interval) typeName() string     { return "range" }
func (v *view) typeName() string      { return v.kind }
func (g *generator) typeName() string { return g.name }
func (*namespace) typeName() string   { return "Namespace" }
func (*builtin) typeName() string     { return "builtin_function_or_method" }
func (*undefined) typeName() string   { return "Undefined" }

// None returns Python's None, which JSON calls null.
func None() Value { return none{} }

// Bool returns a bool.
func Bool(b bool) Value { return boolean(b) }

// List returns a list.
func List(items ...Value) Value { return &list{items} }

// Text returns a text that comes from outside of the template.
func Text(s string) Value { return foreign(strings.ToValidUTF8(s, "\uFFFD")) }

// Literal returns a text that counts as written by the template, such as the
// model's own begin of text.
func Literal(s string) Value { return text{s: strings.ToValidUTF8(s, "\uFFFD")} }

// truth is Python's bool(v).
func truth(v Value) bool {
	switch v := v.(type) {
	case none:
		return false
	case boolean:
		return bool(v)
	case integer:
		return v != 0
	case float:
		return v != 0
	case text:
		return v.s != ""
	}
	if n, ok := length(v); ok {
		return n > 0
	}
	return true
}

// length is Python's len(v), if v has one.
func length(v Value) (int, bool) {
	switch v := v.(type) {
	case text:
		return v.runes(), true
	case *list:
		return len(v.items), true
	case tuple:
		return len(v.items), true
	case *dict:
		return len(v.entries), true
	case *view:
		return len(v.items), true
	case interval:
		return v.length(), true
	case *loop:
		return v.length(), true
	case *undefined:
		return 0, true
	}
	return 0, false
}

func (v interval) length() int {
	switch {
	case v.step > 0 && v.start < v.stop:
		return int((v.stop-v.start-1)/v.step + 1)
	case v.step < 0 && v.start > v.stop:
		return int((v.start-v.stop-1)/-v.step + 1)
	}
	return 0
}

func (v interval) at(i int) Value { return integer(v.start + int64(i)*v.step) }
