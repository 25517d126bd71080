package jinja

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// A text is a string of which each byte comes from the template or from data.
type text struct {
	s    string
	data []span // of the bytes that come from data: sorted, disjoint, not empty
	base int    // where s begins in the numbers of data, so that a cut shares them
	safe bool   // the filter safe marked it as HTML: "+" escapes what is added
}

type span struct{ start, end int }

func (t text) typeName() string {
	if t.safe {
		return "Markup"
	}
	return "str"
}

// foreign returns a text of data.
func foreign(s string) text {
	if s == "" {
		return text{}
	}
	return text{s: s, data: []span{{0, len(s)}}}
}

// derived returns a text computed from others in a way that does not tell
// which bytes come from where: it is data if a part of one of them is.
func derived(s string, from ...text) text {
	if slices.ContainsFunc(from, func(t text) bool { return len(t.data) > 0 }) {
		return foreign(s)
	}
	return text{s: s}
}

func (t text) unmarked() text { t.safe = false; return t }

func (t text) marked(safe bool) text { t.safe = safe; return t }

// cut returns the bytes from start to end.
func (t text) cut(start, end int) text {
	out := text{s: t.s[start:end], safe: t.safe}
	if start == end || len(t.data) == 0 {
		return out
	}
	out.base = t.base + start
	first := sort.Search(len(t.data), func(i int) bool { return t.data[i].end > out.base })
	last := sort.Search(len(t.data), func(i int) bool { return t.data[i].start >= t.base+end })
	out.data = t.data[first:last]
	return out
}

// spans calls f with each part of s that comes from data.
func (t text) spans(f func(start, end int)) {
	for _, d := range t.data {
		f(max(d.start-t.base, 0), min(d.end-t.base, len(t.s)))
	}
}

// ascii reports whether bytes are characters.
func (t text) ascii() bool {
	for i := range len(t.s) {
		if t.s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (t text) runes() int { return utf8.RuneCountInString(t.s) }

// offset returns the byte at which character i begins, for i up to the number
// of characters.
func (t text) offset(i int) int {
	at := 0
	for ; i > 0; i-- {
		_, size := utf8.DecodeRuneInString(t.s[at:])
		at += size
	}
	return at
}

// trim cuts the characters that match from the ends.
func (t text) trim(match func(rune) bool, left, right bool) text {
	start, end := 0, len(t.s)
	if left {
		start = end - len(strings.TrimLeftFunc(t.s, match))
	}
	if right && start < end {
		end = start + len(strings.TrimRightFunc(t.s[start:], match))
	}
	return t.cut(start, end)
}

// mapped replaces the characters of a text by others.
func (t text) mapped(f func(string) string) text {
	if t.ascii() {
		return text{s: f(t.s), data: t.data, base: t.base, safe: t.safe}
	}
	return derived(f(t.s), t).marked(t.safe)
}
