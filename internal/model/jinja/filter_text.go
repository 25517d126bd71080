package jinja

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var textFilters = map[string]filter{
	"capitalize": textFilter(capitalize),
	"lower":      textFilter(lower),
	"upper":      textFilter(upper),
	"title":      textFilter(titleWords),
	"string":     {params{}, func(r *run, v Value, _ []Value) Value { return r.str(v) }, nil},
	"safe":       {params{}, func(r *run, v Value, _ []Value) Value { return r.str(v).marked(true) }, nil},
	"escape":     {params{}, escapeFilter, nil},
	"e":          {params{}, escapeFilter, nil},
	"forceescape": {params{}, func(r *run, v Value, _ []Value) Value {
		return escape(r, r.str(v).unmarked())
	}, nil},
	"trim": {params{optional("chars", none{})}, func(r *run, v Value, a []Value) Value {
		return strip(r, r.str(v), a[0], true, true)
	}, nil},
	"replace": {params{required("old"), required("new"), optional("count", none{})}, replaceFilter, nil},
	"join":    {params{optional("d", text{}), optional("attribute", none{})}, joinFilter, nil},
	"indent":  {params{optional("width", integer(4)), optional("first", boolean(false)), optional("blank", boolean(false))}, indentFilter, nil},
	"truncate": {
		params{optional("length", integer(255)), optional("killwords", boolean(false)), optional("end", text{s: "..."}), optional("leeway", none{})},
		truncateFilter, nil,
	},
	"wordcount": {params{}, func(r *run, v Value, _ []Value) Value {
		return integer(len(strings.FieldsFunc(r.str(v).s, func(c rune) bool { return !isWord(c) })))
	}, nil},
	"format": {raw: formatFilter},
	"tojson": {tojsonParams, tojson, nil},
}

func textFilter(f func(string) string) filter {
	return filter{params{}, func(r *run, v Value, _ []Value) Value {
		t := r.str(v)
		r.charge(len(t.s))
		return t.mapped(f)
	}, nil}
}

// wordStart matches what separates the words of the filter title.
var wordStart = regexp.MustCompile(`[-\s({\[<]+`)

func titleWords(s string) string {
	var b strings.Builder
	word := func(w string) {
		_, n := utf8.DecodeRuneInString(w)
		b.WriteString(upper(w[:n]) + lower(w[n:]))
	}
	for {
		at := wordStart.FindStringIndex(s)
		if at == nil {
			word(s)
			return b.String()
		}
		word(s[:at[0]])
		b.WriteString(s[at[0]:at[1]])
		s = s[at[1]:]
	}
}

func escapeFilter(r *run, v Value, _ []Value) Value { return escape(r, r.str(v)) }

func replaceFilter(r *run, v Value, a []Value) Value {
	count := -1
	if !isNone(a[2]) {
		count = r.index(a[2], "count")
	}
	return replaceText(r, r.str(v).unmarked(), r.str(a[0]), r.str(a[1]), count)
}

func joinFilter(r *run, v Value, a []Value) Value {
	d := r.str(a[0])
	get := getter(r, a[1], nil)
	b := builder{run: r}
	next := r.iterator(v)
	for i := 0; ; i++ {
		item, ok := next(r)
		if !ok {
			return b.text()
		}
		if i > 0 {
			b.write(d)
		}
		b.write(r.str(get(item)))
	}
}

// indentFilter indents all lines but the first and empty ones.
func indentFilter(r *run, v Value, a []Value) Value {
	indent, ok := a[0].(text)
	if !ok {
		width := max(r.index(a[0], "width"), 0)
		r.reserve(width, 1)
		indent = text{s: strings.Repeat(" ", width)}
	}
	first, blank := truth(a[1]), truth(a[2])
	t := r.text(v, "the value of indent")
	b := builder{run: r}
	for i, line := range splitLines(r, r.join(t, text{s: "\n"}), false) {
		if i > 0 {
			b.literal("\n")
		}
		if i == 0 && first || i > 0 && (blank || line.(text).s != "") {
			b.write(indent)
		}
		b.write(line.(text))
	}
	return b.text().marked(t.safe)
}

func truncateFilter(r *run, v Value, a []Value) Value {
	length, end, leeway := r.index(a[0], "length"), r.str(a[2]), 5
	if !isNone(a[3]) {
		leeway = r.index(a[3], "leeway")
	}
	if length < end.runes() || leeway < 0 {
		r.fail("the length must be at least that of the end, and the leeway not negative")
	}
	if isUndefined(v) {
		return v
	}
	t := r.text(v, "the value of truncate")
	if t.runes() <= length+leeway {
		return t
	}
	head := sliceText(r, t, 0, length-end.runes(), 1).(text)
	if !truth(a[1]) {
		head = splitTextRight(r, head, text{s: " "}, integer(1))[0].(text)
	}
	return r.join(head, end)
}

func formatFilter(r *run, v Value, a arguments) Value {
	if len(a.positional) > 0 && len(a.named) > 0 {
		r.fail("can't handle positional and keyword arguments at the same time")
	}
	if len(a.named) == 0 {
		return percent(r, r.str(v), tuple{items: a.positional})
	}
	d := &dict{}
	for _, n := range a.named {
		d.set(r, text{s: n.name}, n.value)
	}
	return percent(r, r.str(v), d)
}
