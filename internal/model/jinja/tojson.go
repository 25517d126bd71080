package jinja

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// An encoder writes JSON as Python's json.dumps.
type encoder struct {
	builder
	ascii     bool
	indent    string
	indented  bool
	item, key string // separators
	sorted    bool
}

var tojsonParams = params{
	optional("ensure_ascii", boolean(false)), optional("indent", none{}), optional("separators", none{}), optional("sort_keys", boolean(false)),
}

// tojson is the filter tojson of transformers, which calls json.dumps with
// ensure_ascii=False by default.
func tojson(r *run, v Value, a []Value) Value {
	e := &encoder{builder: builder{run: r}, ascii: truth(a[0]), item: ", ", key: ": ", sorted: truth(a[3])}
	if !isNone(a[1]) {
		e.indented, e.item = true, ","
		if t, ok := a[1].(text); ok {
			e.indent = t.s
		} else {
			n := max(r.index(a[1], "indent"), 0)
			r.reserve(n, 1)
			e.indent = strings.Repeat(" ", n)
		}
	}
	if !isNone(a[2]) {
		both := r.all(a[2])
		if len(both) != 2 {
			r.fail("separators must be a pair of texts")
		}
		e.item, e.key = r.text(both[0], "a separator").s, r.text(both[1], "a separator").s
	}
	e.value(v, 0)
	return e.text()
}

func (e *encoder) value(v Value, level int) {
	r := e.run
	r.step()
	r.enter()
	defer r.leave()
	switch v := v.(type) {
	case text:
		e.quoted(v)
	case *list:
		e.list(v.items, level)
	case tuple:
		e.list(v.items, level)
	case *dict:
		e.object(v, level)
	case none, boolean, integer, bigInt, float:
		s, _ := scalar(v)
		e.literal(s)
	default:
		r.fail("Object of type %s is not JSON serializable", v.typeName())
	}
}

// scalar is the JSON text of a value without parts.
func scalar(v Value) (string, bool) {
	switch v := v.(type) {
	case none:
		return "null", true
	case boolean:
		return strconv.FormatBool(bool(v)), true
	case integer:
		return strconv.FormatInt(int64(v), 10), true
	case bigInt:
		return v.String(), true
	case float:
		switch f := float64(v); {
		case math.IsNaN(f):
			return "NaN", true
		case math.IsInf(f, 1):
			return "Infinity", true
		case math.IsInf(f, -1):
			return "-Infinity", true
		}
		return floatText(float64(v)), true
	}
	return "", false
}

func (e *encoder) newline(level int) {
	if e.indented {
		e.run.reserve(level, len(e.indent))
		e.literal("\n" + strings.Repeat(e.indent, level))
	}
}

func (e *encoder) list(items []Value, level int) {
	if len(items) == 0 {
		e.literal("[]")
		return
	}
	e.literal("[")
	for i, item := range items {
		if i > 0 {
			e.literal(e.item)
		}
		e.newline(level + 1)
		e.value(item, level+1)
	}
	e.newline(level)
	e.literal("]")
}

func (e *encoder) object(d *dict, level int) {
	if len(d.entries) == 0 {
		e.literal("{}")
		return
	}
	entries := d.entries
	if e.sorted {
		entries = slices.Clone(entries)
		slices.SortStableFunc(entries, func(a, b entry) int { return compare(e.run, "<", a.key, b.key) })
	}
	e.literal("{")
	for i, x := range entries {
		if i > 0 {
			e.literal(e.item)
		}
		e.newline(level + 1)
		if t, ok := x.key.(text); ok {
			e.quoted(t)
		} else if s, ok := scalar(x.key); ok {
			e.quoted(text{s: s})
		} else {
			e.run.fail("keys must be str, int, float, bool or None, not %s", x.key.typeName())
		}
		e.literal(e.key)
		e.value(x.value, level+1)
	}
	e.newline(level)
	e.literal("}")
}

// quoted writes a JSON string. What a text of data holds comes from data, with
// its escapes.
func (e *encoder) quoted(t text) {
	e.literal(`"`)
	start := 0
	for i, c := range t.s {
		s := e.escape(c)
		if s == "" {
			continue
		}
		e.write(t.cut(start, i))
		start = min(i+len(string(c)), len(t.s))
		e.foreign(s, t.cut(i, start))
	}
	e.write(t.cut(start, len(t.s)))
	e.literal(`"`)
}

// escape returns how a character is written in a string, or "" for itself.
func (e *encoder) escape(c rune) string {
	switch c {
	case '"', '\\':
		return `\` + string(c)
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case '\f':
		return `\f`
	case '\b':
		return `\b`
	}
	switch {
	case c < ' ':
		return fmt.Sprintf(`\u%04x`, c)
	case c < 0x7f || !e.ascii:
		return ""
	case c < 0x10000:
		return fmt.Sprintf(`\u%04x`, c)
	}
	high, low := utf16.EncodeRune(c)
	return fmt.Sprintf(`\u%04x\u%04x`, high, low)
}
