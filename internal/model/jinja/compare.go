package jinja

import (
	"cmp"
	"math"
	"math/big"
	"strings"
)

// equal is Python's a == b.
func equal(r *run, a, b Value) bool {
	r.step()
	if c, ok := numbers(a, b); ok {
		return c == 0
	}
	r.enter()
	defer r.leave()
	switch a := a.(type) {
	case none:
		_, ok := b.(none)
		return ok
	case *undefined:
		_, ok := b.(*undefined)
		return ok
	case text:
		b, ok := b.(text)
		if ok && len(a.s) == len(b.s) {
			r.scan(a)
		}
		return ok && a.s == b.s
	case *list:
		b, ok := b.(*list)
		return ok && (a == b || equalItems(r, a.items, b.items))
	case tuple:
		b, ok := b.(tuple)
		return ok && equalItems(r, a.items, b.items)
	case *dict:
		b, ok := b.(*dict)
		return ok && equalDicts(r, a, b)
	case interval:
		b, ok := b.(interval)
		n := a.length()
		return ok && n == b.length() && (n == 0 || a.start == b.start && (n == 1 || a.step == b.step))
	case boolean, integer, bigInt, float:
		return false
	}
	return identical(a, b)
}

// identical compares pointers. Values of other types are never identical.
func identical(a, b Value) bool {
	switch a := a.(type) {
	case *list:
		b, ok := b.(*list)
		return ok && a == b
	case *dict:
		b, ok := b.(*dict)
		return ok && a == b
	case *view, *generator, *namespace, *builtin, *macro, *loop:
		return a == b
	}
	return false
}

func equalItems(r *run, a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equal(r, a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalDicts(r *run, a, b *dict) bool {
	if len(a.entries) != len(b.entries) {
		return false
	}
	for _, e := range a.entries {
		other, ok := b.get(r, e.key)
		if !ok || !equal(r, e.value, other) {
			return false
		}
	}
	return true
}

// unordered is the result of comparing with a number that is not one.
const unordered = 2

// numbers compares two numbers; ok is false if one of them is no number.
func numbers(a, b Value) (c int, ok bool) {
	x, xok := small(a)
	y, yok := small(b)
	if xok && yok {
		return cmp.Compare(x, y), true
	}
	i, iok := whole(a)
	j, jok := whole(b)
	if iok && jok {
		return i.Cmp(j), true
	}
	f, fok := asFloat(a)
	g, gok := asFloat(b)
	if !fok || !gok {
		return 0, false
	}
	if math.IsNaN(f) || math.IsNaN(g) {
		return unordered, true
	}
	if iok && !math.IsInf(g, 0) { // exactly: a float does not hold every integer
		return new(big.Float).SetInt(i).Cmp(big.NewFloat(g)), true
	}
	if jok && !math.IsInf(f, 0) {
		return big.NewFloat(f).Cmp(new(big.Float).SetInt(j)), true
	}
	return cmp.Compare(f, g), true
}

// compare orders two values. It fails if their types have no order.
func compare(r *run, op string, a, b Value) int {
	r.step()
	if c, ok := numbers(a, b); ok {
		return c
	}
	switch x := a.(type) {
	case text:
		if y, ok := b.(text); ok {
			r.scan(x)
			return strings.Compare(x.s, y.s)
		}
	case *list:
		if y, ok := b.(*list); ok {
			return compareItems(r, op, x.items, y.items)
		}
	case tuple:
		if y, ok := b.(tuple); ok {
			return compareItems(r, op, x.items, y.items)
		}
	}
	r.use(a)
	r.use(b)
	r.fail("'%s' not supported between instances of '%s' and '%s'", op, a.typeName(), b.typeName())
	return 0
}

func compareItems(r *run, op string, a, b []Value) int {
	r.enter()
	defer r.leave()
	for i := range min(len(a), len(b)) {
		if !equal(r, a[i], b[i]) {
			return compare(r, op, a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

// holds is a comparison by one of the operators of Jinja.
func holds(r *run, op string, a, b Value) bool {
	switch op {
	case "==":
		return equal(r, a, b)
	case "!=":
		return !equal(r, a, b)
	case "in":
		return contains(r, b, a)
	case "not in":
		return !contains(r, b, a)
	}
	c := compare(r, op, a, b)
	if c == unordered {
		return false
	}
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// contains is Python's item in v.
func contains(r *run, v, item Value) bool {
	switch v := v.(type) {
	case text:
		t, ok := item.(text)
		if !ok {
			r.fail("'in <string>' requires string as left operand, not %s", item.typeName())
		}
		r.scan(v)
		return strings.Contains(v.s, t.s)
	case *dict:
		_, ok := v.get(r, item)
		return ok
	}
	next, ok := r.iterate(v)
	if !ok {
		r.fail("argument of type '%s' is not iterable", v.typeName())
	}
	for {
		x, more := next(r)
		if !more {
			return false
		}
		if equal(r, x, item) {
			return true
		}
	}
}
