package jinja

import "strings"

// A test is a predicate after "is".
type test struct {
	params params
	call   func(r *run, v Value, args []Value) bool
}

// unsupportedTests exist in Jinja and not here.
var unsupportedTests = []string{"lower", "upper"}

// tests are the tests by name.
var tests = map[string]test{
	"defined":     {params{}, func(_ *run, v Value, _ []Value) bool { return !isUndefined(v) }},
	"undefined":   {params{}, func(_ *run, v Value, _ []Value) bool { return isUndefined(v) }},
	"none":        {params{}, func(_ *run, v Value, _ []Value) bool { return isNone(v) }},
	"boolean":     {params{}, func(_ *run, v Value, _ []Value) bool { return isBool(v) }},
	"true":        {params{}, func(_ *run, v Value, _ []Value) bool { return isBool(v) && truth(v) }},
	"false":       {params{}, func(_ *run, v Value, _ []Value) bool { return isBool(v) && !truth(v) }},
	"integer":     {params{}, func(_ *run, v Value, _ []Value) bool { _, ok := whole(v); return ok && !isBool(v) }},
	"float":       {params{}, func(_ *run, v Value, _ []Value) bool { _, ok := v.(float); return ok }},
	"number":      {params{}, func(_ *run, v Value, _ []Value) bool { _, ok := asFloat(v); return ok }},
	"string":      {params{}, func(_ *run, v Value, _ []Value) bool { _, ok := v.(text); return ok }},
	"mapping":     {params{}, func(_ *run, v Value, _ []Value) bool { _, ok := v.(*dict); return ok }},
	"sequence":    {params{}, func(_ *run, v Value, _ []Value) bool { return isSequence(v) }},
	"iterable":    {params{}, func(r *run, v Value, _ []Value) bool { _, ok := r.iterate(v); return ok }},
	"callable":    {params{}, func(_ *run, v Value, _ []Value) bool { return isCallable(v) }},
	"escaped":     {params{}, func(_ *run, v Value, _ []Value) bool { t, ok := v.(text); return ok && t.safe }},
	"odd":         {params{}, func(r *run, v Value, _ []Value) bool { return equal(r, binary(r, "%", v, integer(2)), integer(1)) }},
	"even":        {params{}, func(r *run, v Value, _ []Value) bool { return equal(r, binary(r, "%", v, integer(2)), integer(0)) }},
	"divisibleby": {params{required("num")}, func(r *run, v Value, a []Value) bool { return equal(r, binary(r, "%", v, a[0]), integer(0)) }},
	"sameas":      {params{required("other")}, func(r *run, v Value, a []Value) bool { return same(r, v, a[0]) }},
	"in":          {params{required("seq")}, func(r *run, v Value, a []Value) bool { return contains(r, a[0], v) }},
	"filter": {params{}, func(r *run, v Value, _ []Value) bool {
		t, ok := v.(text)
		_, known := r.template.filters[t.s]
		return ok && known
	}},
	"test": {params{}, func(r *run, v Value, _ []Value) bool {
		t, ok := v.(text)
		_, known := r.template.tests[t.s]
		return ok && known
	}},
	"==": comparison("=="), "eq": comparison("=="), "equalto": comparison("=="),
	"!=": comparison("!="), "ne": comparison("!="),
	"<": comparison("<"), "lt": comparison("<"), "lessthan": comparison("<"),
	"<=": comparison("<="), "le": comparison("<="),
	">": comparison(">"), "gt": comparison(">"), "greaterthan": comparison(">"),
	">=": comparison(">="), "ge": comparison(">="),
}

func comparison(op string) test {
	return test{params{positional("other")}, func(r *run, v Value, a []Value) bool { return holds(r, op, v, a[0]) }}
}

func (r *run) applyTest(name string, v Value, a arguments) bool {
	t, ok := r.template.tests[name]
	if !ok {
		r.fail("no test named %q", name)
	}
	r.step()
	r.scan(v)
	r.scan(a.positional...)
	return t.call(r, v, r.bind(name, t.params, a))
}

func isUndefined(v Value) bool { _, ok := v.(*undefined); return ok }

func isBool(v Value) bool { _, ok := v.(boolean); return ok }

func isCallable(v Value) bool {
	switch v.(type) {
	case *builtin, *macro, *loop, *undefined:
		return true
	}
	return false
}

// isSequence reports whether a value has a length and items by number or key.
func isSequence(v Value) bool {
	switch v.(type) {
	case text, *list, tuple, *dict, interval, *undefined:
		return true
	}
	return false
}

// same is Python's a is b, for values that Python keeps once.
func same(r *run, a, b Value) bool {
	switch a := a.(type) {
	case none, boolean:
		return a == b
	case text, integer:
		return strings.EqualFold(a.typeName(), b.typeName()) && equal(r, a, b)
	}
	return identical(a, b)
}
