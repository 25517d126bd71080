package jinja

import (
	"slices"
	"strings"
)

// mutating lists the methods by type that the immutable sandbox forbids.
var mutating = map[string][]string{
	"list": {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"},
	"dict": {"clear", "pop", "popitem", "setdefault", "update"},
}

// attribute is obj.name in Jinja: an attribute, else an item.
func (r *run) attribute(obj Value, name string) Value {
	r.use(obj)
	if v, ok := r.own(obj, name); ok {
		return v
	}
	if v, ok := itemOf(r, obj, text{s: name}); ok {
		return v
	}
	return missing(obj, text{s: name})
}

// subscript is obj[key] in Jinja: an item, else an attribute.
func (r *run) subscript(obj, key Value) Value {
	r.use(obj)
	if v, ok := itemOf(r, obj, key); ok {
		return v
	}
	if name, ok := key.(text); ok {
		if v, ok := r.own(obj, name.s); ok {
			return v
		}
	}
	return missing(obj, key)
}

func missing(obj, key Value) Value {
	name := "None"
	if !isNone(obj) {
		name = obj.typeName() + " object"
	}
	r := &run{left: Limits{Steps: 1000, Bytes: 1 << 16}, max: Limits{Depth: 10}}
	if t, ok := key.(text); ok {
		if len(t.s) > 100 {
			t = t.cut(0, 100)
		}
		return &undefined{message: "'" + name + "' has no attribute " + r.repr(t).s}
	}
	if _, ok := small(key); ok {
		return &undefined{message: name + " has no element " + r.repr(key).s}
	}
	return &undefined{message: name + " has no such element"}
}

// own returns an attribute of the object itself.
func (r *run) own(obj Value, name string) (Value, bool) {
	if strings.HasPrefix(name, "__") || slices.Contains(mutating[obj.typeName()], name) {
		return &undefined{message: "access to attribute '" + name + "' of '" + obj.typeName() + "' object is unsafe"}, true
	}
	switch o := obj.(type) {
	case text:
		if slices.Contains(unsupportedMethods, name) {
			failAt(Unsupported, r.line, "method \"str."+name+"\"", "it is not supported in chat templates")
		}
		if m, ok := r.template.methods[name]; ok {
			return m.of(o, "str."+name), true
		}
	case *dict:
		if m, ok := dictMethods[name]; ok {
			return m.of(o, "dict."+name), true
		}
	case *list:
		if m, ok := sequenceMethods[name]; ok {
			return m.of(o, "list."+name), true
		}
		if name == "copy" {
			return method{params{}, func(_ *run, self Value, _ []Value) Value {
				return &list{slices.Clone(self.(*list).items)}
			}}.of(o, "list.copy"), true
		}
	case tuple:
		if i := slices.Index(o.names, name); i >= 0 {
			return o.items[i], true
		}
		if m, ok := sequenceMethods[name]; ok {
			return m.of(o, "tuple."+name), true
		}
	case interval:
		return o.attribute(name)
	case *namespace:
		return o.attrs.text(name)
	case *loop:
		return o.attribute(r, name)
	case *macro:
		return o.attribute(name)
	}
	return nil, false
}

func (v interval) attribute(name string) (Value, bool) {
	switch name {
	case "start":
		return integer(v.start), true
	case "stop":
		return integer(v.stop), true
	case "step":
		return integer(v.step), true
	}
	if m, ok := sequenceMethods[name]; ok {
		return m.of(v, "range."+name), true
	}
	return nil, false
}

// A method is a function of a type.
type method struct {
	params params
	call   func(r *run, self Value, args []Value) Value
}

// of binds the method to a value.
func (m method) of(self Value, name string) Value {
	return &builtin{name: name, params: m.params, call: func(r *run, args []Value) Value {
		r.scan(self)
		return m.call(r, self, args)
	}}
}
