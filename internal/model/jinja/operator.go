package jinja

import (
	"slices"
	"strings"
)

// binary is a binary operator of arithmetic. Texts and lists know "+", "*"
// and "%" too.
func binary(r *run, op string, a, b Value) Value {
	if v, ok := arithmetic(r, op, a, b); ok {
		return v
	}
	switch op {
	case "+":
		if v, ok := addValues(r, a, b); ok {
			return v
		}
	case "*":
		if v, ok := repeatValue(r, a, b); ok {
			return v
		}
		if v, ok := repeatValue(r, b, a); ok {
			return v
		}
	case "%":
		if t, ok := a.(text); ok {
			return percent(r, t, b)
		}
	}
	r.use(a)
	r.use(b)
	if s, ok := a.(text); ok && op == "+" {
		r.fail(`can only concatenate %s (not "%s") to %s`, s.typeName(), b.typeName(), s.typeName())
	}
	r.fail("unsupported operand type(s) for %s: '%s' and '%s'", op, a.typeName(), b.typeName())
	return nil
}

func addValues(r *run, a, b Value) (Value, bool) {
	switch a := a.(type) {
	case text:
		if b, ok := b.(text); ok {
			if a.safe != b.safe {
				return r.join(escape(r, a), escape(r, b)).marked(true), true
			}
			return r.join(a, b).marked(a.safe), true
		}
	case *list:
		if b, ok := b.(*list); ok {
			r.reserve(len(a.items)+len(b.items), valueBytes)
			return &list{slices.Concat(a.items, b.items)}, true
		}
	case tuple:
		if b, ok := b.(tuple); ok {
			r.reserve(len(a.items)+len(b.items), valueBytes)
			return tuple{items: slices.Concat(a.items, b.items)}, true
		}
	}
	return nil, false
}

// repeatValue is a * times for sequences.
func repeatValue(r *run, a, times Value) (Value, bool) {
	n, ok := small(times)
	if !ok {
		return nil, false
	}
	n = max(n, 0)
	count := int(min(n, 1<<40))
	switch a := a.(type) {
	case text:
		if a.s == "" {
			return a, true
		}
		r.reserve(count, len(a.s))
		if len(a.data) == 0 {
			return text{s: strings.Repeat(a.s, count), safe: a.safe}, true
		}
		b := builder{run: r}
		for range count {
			b.write(a)
		}
		return b.text().marked(a.safe), true
	case *list:
		return &list{repeated(r, a.items, count)}, true
	case tuple:
		return tuple{items: repeated(r, a.items, count)}, true
	}
	return nil, false
}

func repeated(r *run, items []Value, count int) []Value {
	if len(items) == 0 {
		return nil
	}
	r.reserve(count, len(items)*valueBytes)
	return slices.Repeat(items, count)
}

func negate(r *run, v Value) Value {
	if f, ok := v.(float); ok {
		return -f
	}
	return signed(r, "-", v)
}

func positive(r *run, v Value) Value { return signed(r, "+", v) }

// signed returns 0 + v or 0 - v.
func signed(r *run, op string, v Value) Value {
	if v, ok := arithmetic(r, op, integer(0), v); ok {
		return v
	}
	r.use(v)
	r.fail("bad operand type for unary %s: '%s'", op, v.typeName())
	return nil
}

// escape replaces the characters that HTML reserves, unless the text is marked
// as safe.
func escape(r *run, t text) text {
	if t.safe {
		return t
	}
	b := builder{run: r}
	for i := range len(t.s) {
		switch t.s[i] {
		case '&':
			b.foreign("&amp;", t.cut(i, i+1))
		case '<':
			b.foreign("&lt;", t.cut(i, i+1))
		case '>':
			b.foreign("&gt;", t.cut(i, i+1))
		case '"':
			b.foreign("&#34;", t.cut(i, i+1))
		case '\'':
			b.foreign("&#39;", t.cut(i, i+1))
		default:
			b.write(t.cut(i, i+1))
		}
	}
	return b.text().marked(true)
}
