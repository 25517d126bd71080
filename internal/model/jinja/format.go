package jinja

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// format is Python's str.format. As in the sandbox of Jinja, fields follow the
// rules of attributes in templates.
func (r *run) format(t text, a arguments) text {
	f := &formatter{run: r, args: a}
	return f.format(t, 2).marked(t.safe)
}

func (r *run) formatMap(t text, v Value) text {
	d, ok := v.(*dict)
	if !ok {
		r.fail("format_map() needs a dict, not %s", v.typeName())
	}
	a := arguments{}
	for _, e := range d.entries {
		if key, ok := e.key.(text); ok {
			a.named = append(a.named, named{key.s, e.value})
		}
	}
	return r.format(t, a)
}

type formatter struct {
	run  *run
	args arguments
	auto int // the next field without a name
}

// format replaces the fields in braces. A field can have fields in its spec,
// up to depth.
func (f *formatter) format(t text, depth int) text {
	if depth == 0 {
		f.run.fail("max string recursion exceeded")
	}
	b := builder{run: f.run}
	for {
		n := strings.IndexAny(t.s, "{}")
		if n < 0 {
			b.write(t)
			return b.text()
		}
		b.write(t.cut(0, n))
		if strings.HasPrefix(t.s[n:], "{{") || strings.HasPrefix(t.s[n:], "}}") {
			b.write(t.cut(n, n+1))
			t = t.cut(n+2, len(t.s))
			continue
		}
		if t.s[n] == '}' {
			f.run.fail("single '}' encountered in format string")
		}
		end := fieldEnd(t.s[n:])
		if end < 0 {
			f.run.fail("expected '}' before end of string")
		}
		b.write(f.field(t.s[n+1:n+end], depth))
		t = t.cut(n+end+1, len(t.s))
	}
}

// fieldEnd returns where the field that s begins with ends, or -1.
func fieldEnd(s string) int {
	open := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			open++
		case '}':
			open--
			if open == 0 {
				return i
			}
		}
	}
	return -1
}

func (f *formatter) field(s string, depth int) text {
	name, layout, _ := strings.Cut(s, ":")
	name, conversion, converted := strings.Cut(name, "!")
	v := f.value(name)
	if converted {
		switch conversion {
		case "s":
			v = f.run.str(v)
		case "r", "a":
			v = f.run.repr(v)
		default:
			f.run.fail("unknown conversion specifier %q", conversion)
		}
	}
	if strings.Contains(layout, "{") {
		layout = f.format(text{s: layout}, depth-1).s
	}
	return f.run.formatted(v, layout)
}

// value is the value of a name with attributes and items, such as 0.a[b].
func (f *formatter) value(path string) Value {
	n := strings.IndexAny(path, ".[")
	if n < 0 {
		n = len(path)
	}
	name, path := path[:n], path[n:]
	var v Value
	i, err := strconv.Atoi(name)
	if name == "" {
		i, err = f.auto, nil
		f.auto++
	}
	switch {
	case err == nil && i >= 0 && i < len(f.args.positional):
		v = f.args.positional[i]
	case err == nil:
		f.run.fail("replacement index %d out of range", i)
	default:
		for _, a := range f.args.named {
			if a.name == name {
				v = a.value
			}
		}
		if v == nil {
			f.run.fail("there is no argument %q", name)
		}
	}
	for path != "" {
		if rest, ok := strings.CutPrefix(path, "."); ok {
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			v, path = f.run.attribute(v, rest[:end]), rest[end:]
			continue
		}
		key, rest, ok := strings.Cut(path[1:], "]")
		if !ok {
			f.run.fail("missing ']' in format string")
		}
		path = rest
		if i, err := strconv.Atoi(key); err == nil {
			v = f.run.subscript(v, integer(i))
		} else {
			v = f.run.subscript(v, text{s: key})
		}
	}
	return v
}

var layoutPattern = regexp.MustCompile(`^(?s)(?:(.)?([<>=^]))?([+\- ]?)(#?)(0?)(\d*)([,_]?)(?:\.(\d+))?([bcdeEfFgGnosxX%]?)$`)

// formatted is Python's format(v, layout).
func (r *run) formatted(v Value, layout string) text {
	if layout == "" {
		return r.str(v)
	}
	m := layoutPattern.FindStringSubmatch(layout)
	if m == nil {
		r.fail("invalid format specifier %q", layout)
	}
	s := spec{fill: text{s: " "}, align: m[2], sign: strings.Trim(m[3], "-"), alternate: m[4] != "", grouping: m[7], precision: -1}
	if m[1] != "" {
		s.fill = text{s: m[1]}
	}
	s.width, _ = strconv.Atoi(m[6])
	r.reserve(s.width, 1)
	if m[8] != "" {
		s.precision, _ = strconv.Atoi(m[8])
		r.reserve(s.precision, 1)
	}
	t, isText := v.(text)
	if m[5] != "" && s.align == "" && !isText {
		s.align, s.fill = "=", text{s: "0"}
	}
	if isText {
		if s.align == "" {
			s.align = "<"
		}
		if m[9] != "" && m[9] != "s" {
			r.fail("unknown format code %q for object of type 'str'", m[9])
		}
		return s.text(r, t)
	}
	if s.align == "" {
		s.align = ">"
	}
	return r.formattedNumber(v, m[9], s)
}

func (r *run) formattedNumber(v Value, kind string, s spec) text {
	if _, ok := asFloat(v); !ok {
		r.use(v)
		r.fail("unsupported format string passed to %s.__format__", v.typeName())
	}
	i, isWhole := whole(v)
	switch {
	case isWhole && (kind == "" || kind == "n"):
		return s.integer(r, i, "d")
	case isWhole && isOneOf(kind, "bdoxX"):
		return s.integer(r, i, kind)
	case isWhole && kind == "c":
		return r.converted(normalized(new(big.Int).Set(i)), "c", s)
	case isOneOf(kind, "bcdoxXs"):
		r.fail("unknown format code %q for object of type '%s'", kind, v.typeName())
	}
	f, _ := asFloat(v)
	switch {
	case kind == "%":
		t := s.bare().float(r, f*100, "f")
		return s.padded(r, "", text{s: t.s + "%"})
	case kind == "" && s.precision < 0:
		sign, digits := s.signed(f < 0), strings.TrimPrefix(floatText(f), "-")
		return s.padded(r, sign, text{s: groupedFloat(digits, s.grouping)})
	case kind == "n":
		kind = "g"
	}
	return s.float(r, f, kind)
}

// bare is the spec without padding.
func (s spec) bare() spec { s.width = 0; return s }
