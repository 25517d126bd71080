package jinja

import (
	"strings"
	"unicode/utf8"
)

// unsupportedMethods exist in Python, most of them in its str, and not here.
var unsupportedMethods = []string{
	"casefold", "center", "encode", "expandtabs", "format", "format_map", "isalnum", "isascii", "isdecimal", "isidentifier",
	"islower", "is_integer", "isnumeric", "isprintable", "isspace", "istitle", "isupper", "ljust", "maketrans", "partition", "rfind", "rindex",
	"rjust", "rpartition", "swapcase", "translate", "zfill",
}

// textMethods returns the methods of Python's str.
func textMethods() map[string]method {
	return map[string]method{
		"capitalize": mapping(capitalize),
		"lower":      mapping(lower),
		"upper":      mapping(upper),
		"title":      mapping(titleCase),

		"strip":        {trimParams, func(r *run, self Value, a []Value) Value { return strip(r, self.(text), a[0], true, true) }},
		"lstrip":       {trimParams, func(r *run, self Value, a []Value) Value { return strip(r, self.(text), a[0], true, false) }},
		"rstrip":       {trimParams, func(r *run, self Value, a []Value) Value { return strip(r, self.(text), a[0], false, true) }},
		"removeprefix": {params{positional("prefix")}, removePrefix},
		"removesuffix": {params{positional("suffix")}, removeSuffix},

		"split":      {splitParams, func(r *run, self Value, a []Value) Value { return &list{splitText(r, self.(text), a[0], a[1])} }},
		"rsplit":     {splitParams, func(r *run, self Value, a []Value) Value { return &list{splitTextRight(r, self.(text), a[0], a[1])} }},
		"splitlines": {params{optional("keepends", boolean(false))}, func(r *run, self Value, a []Value) Value { return &list{splitLines(r, self.(text), truth(a[0]))} }},

		"replace": {
			params{positional("old"), positional("new"), optional("count", integer(-1))},
			func(r *run, self Value, a []Value) Value {
				return replaceText(r, self.(text), r.text(a[0], "the old text"), r.text(a[1], "the new text"), r.index(a[2], "count"))
			},
		},
		"join":       {params{positional("iterable")}, joinMethod},
		"startswith": {affixParams, func(r *run, self Value, a []Value) Value { return affix(r, self.(text), a, strings.HasPrefix) }},
		"endswith":   {affixParams, func(r *run, self Value, a []Value) Value { return affix(r, self.(text), a, strings.HasSuffix) }},

		"find": {findParams, func(r *run, self Value, a []Value) Value { return integer(findText(r, self.(text), a)) }},
		"index": {findParams, func(r *run, self Value, a []Value) Value {
			i := findText(r, self.(text), a)
			if i < 0 {
				r.fail("substring not found")
			}
			return integer(i)
		}},
		"count": {findParams, countMethod},

		"isalpha": testing(isAlpha),
		"isdigit": testing(isDigit),
	}
}

var (
	trimParams  = params{maybe("chars", none{})}
	splitParams = params{optional("sep", none{}), optional("maxsplit", integer(-1))}
	affixParams = params{positional("affix"), maybe("start", none{}), maybe("end", none{})}
	findParams  = params{positional("sub"), maybe("start", none{}), maybe("end", none{})}
)

// mapping is a method that replaces characters.
func mapping(f func(string) string) method {
	return method{params{}, func(r *run, self Value, _ []Value) Value {
		r.charge(len(self.(text).s))
		return self.(text).mapped(f)
	}}
}

// testing is a method that tests whether a text is not empty and all of its
// characters match.
func testing(f func(rune) bool) method {
	return method{params{}, func(_ *run, self Value, _ []Value) Value {
		s := self.(text).s
		return boolean(s != "" && strings.IndexFunc(s, func(c rune) bool { return !f(c) }) < 0)
	}}
}

// strip trims white space, or the characters of a text.
func strip(r *run, t text, chars Value, left, right bool) text {
	if isNone(chars) {
		return t.trim(isSpace, left, right)
	}
	set := map[rune]bool{}
	for _, c := range r.text(chars, "strip arg").s {
		set[c] = true
	}
	return t.trim(func(c rune) bool { return set[c] }, left, right)
}

func removePrefix(r *run, self Value, a []Value) Value {
	t, prefix := self.(text), r.text(a[0], "the prefix").s
	if strings.HasPrefix(t.s, prefix) {
		return t.cut(len(prefix), len(t.s))
	}
	return t
}

func removeSuffix(r *run, self Value, a []Value) Value {
	t, suffix := self.(text), r.text(a[0], "the suffix").s
	if strings.HasSuffix(t.s, suffix) {
		return t.cut(0, len(t.s)-len(suffix))
	}
	return t
}

// window returns the part of a text between two optional positions; ok is
// false if the first is behind the end.
func window(r *run, t text, start, end Value) (part text, from int, ok bool) {
	if isNone(start) && isNone(end) {
		return t, 0, true
	}
	n := t.runes()
	s, e, _ := bounds(r, cut{start, end, none{}}, n)
	if !isNone(start) && r.index(start, "start") > n || s > e {
		return text{}, 0, false
	}
	return sliceText(r, t, s, e, 1).(text), s, true
}

// affix tests whether a text begins or ends with a text or one of a tuple.
func affix(r *run, t text, a []Value, test func(string, string) bool) Value {
	part, _, ok := window(r, t, a[1], a[2])
	if !ok {
		return boolean(false)
	}
	options := []Value{a[0]}
	if many, isTuple := a[0].(tuple); isTuple {
		options = many.items
	}
	for _, o := range options {
		if test(part.s, r.text(o, "the first argument").s) {
			return boolean(true)
		}
	}
	return boolean(false)
}

// findText returns the position of a text in another, in characters, or -1.
func findText(r *run, t text, a []Value) int {
	sub := r.text(a[0], "the first argument")
	part, from, ok := window(r, t, a[1], a[2])
	r.charge(len(part.s) / 8)
	if !ok {
		return -1
	}
	at := strings.Index(part.s, sub.s)
	if at < 0 {
		return -1
	}
	return from + utf8.RuneCountInString(part.s[:at])
}

func countMethod(r *run, self Value, a []Value) Value {
	sub := r.text(a[0], "the first argument").s
	part, _, ok := window(r, self.(text), a[1], a[2])
	r.charge(len(part.s) / 8)
	if !ok {
		return integer(0)
	}
	return integer(strings.Count(part.s, sub))
}
