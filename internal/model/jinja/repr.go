package jinja

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// str is Python's str(v).
func (r *run) str(v Value) text {
	switch v := v.(type) {
	case text:
		return v
	case *undefined:
		return text{}
	}
	return r.repr(v)
}

// repr is Python's repr(v).
func (r *run) repr(v Value) text {
	b := builder{run: r}
	b.repr(v)
	return b.text()
}

func (b *builder) repr(v Value) {
	b.run.step()
	b.run.enter()
	defer b.run.leave()
	switch v := v.(type) {
	case none:
		b.literal("None")
	case boolean:
		if v {
			b.literal("True")
		} else {
			b.literal("False")
		}
	case integer:
		b.literal(strconv.FormatInt(int64(v), 10))
	case bigInt:
		b.literal(v.String())
	case float:
		b.literal(floatText(float64(v)))
	case text:
		if v.safe {
			b.literal("Markup(")
			b.quote(v)
			b.literal(")")
		} else {
			b.quote(v)
		}
	case *list:
		b.items("[", v.items, "]")
	case tuple:
		if len(v.items) == 1 {
			b.items("(", v.items, ",)")
		} else {
			b.items("(", v.items, ")")
		}
	case *dict:
		b.dict(v)
	case *view:
		b.items(v.kind+"([", v.items, "])")
	case interval:
		if v.step == 1 {
			b.literal(fmt.Sprintf("range(%d, %d)", v.start, v.stop))
		} else {
			b.literal(fmt.Sprintf("range(%d, %d, %d)", v.start, v.stop, v.step))
		}
	case *namespace:
		b.literal("<Namespace ")
		b.dict(v.attrs)
		b.literal(">")
	case *macro:
		b.literal("<Macro ")
		b.repr(v.title())
		b.literal(">")
	case *loop:
		b.literal(fmt.Sprintf("<LoopContext %d/%d>", v.index0+1, v.length()))
	case *undefined:
		b.literal("Undefined")
	case *builtin:
		b.literal("<built-in function " + v.name + ">")
	default:
		b.literal("<" + v.typeName() + " object>")
	}
}

func (b *builder) items(open string, items []Value, end string) {
	b.literal(open)
	for i, item := range items {
		if i > 0 {
			b.literal(", ")
		}
		b.repr(item)
	}
	b.literal(end)
}

func (b *builder) dict(d *dict) {
	b.literal("{")
	for i, e := range d.entries {
		if i > 0 {
			b.literal(", ")
		}
		b.repr(e.key)
		b.literal(": ")
		b.repr(e.value)
	}
	b.literal("}")
}

// quote writes a text as a literal of Python: in single quotes, or in double
// quotes if it has only single ones.
func (b *builder) quote(t text) {
	mark := "'"
	if strings.Contains(t.s, "'") && !strings.Contains(t.s, `"`) {
		mark = `"`
	}
	b.literal(mark)
	start := 0
	for i, c := range t.s {
		s := quoted(c, mark)
		if s == "" {
			continue
		}
		b.write(t.cut(start, i))
		size := len(string(c))
		b.foreign(s, t.cut(i, min(i+size, len(t.s))))
		start = min(i+size, len(t.s))
	}
	b.write(t.cut(start, len(t.s)))
	b.literal(mark)
}

// quoted returns how a character is written, or "" for itself.
func quoted(c rune, mark string) string {
	switch {
	case string(c) == mark, c == '\\':
		return `\` + string(c)
	case c == '\n':
		return `\n`
	case c == '\r':
		return `\r`
	case c == '\t':
		return `\t`
	case printable(c):
		return ""
	case c < 0x100:
		return fmt.Sprintf(`\x%02x`, c)
	case c < 0x10000:
		return fmt.Sprintf(`\u%04x`, c)
	}
	return fmt.Sprintf(`\U%08x`, c)
}

// printable is Python's str.isprintable of one character.
func printable(c rune) bool {
	return c == ' ' || unicode.IsGraphic(c) && !unicode.In(c, unicode.Zs)
}
