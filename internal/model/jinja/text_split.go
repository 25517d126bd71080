package jinja

import (
	"slices"
	"strings"
)

// splitText is str.split: at a text, or at white space.
func splitText(r *run, t text, sep, limit Value) []Value {
	most := r.index(limit, "maxsplit")
	var out []Value
	add := func(part text) {
		r.charge(valueBytes)
		out = append(out, part)
	}
	if isNone(sep) {
		t = t.trim(isSpace, true, false)
		for t.s != "" {
			n := strings.IndexFunc(t.s, isSpace)
			if most == len(out) || n < 0 {
				add(t)
				break
			}
			add(t.cut(0, n))
			t = t.cut(n, len(t.s)).trim(isSpace, true, false)
		}
		return out
	}
	by := separator(r, sep)
	for {
		n := strings.Index(t.s, by)
		if n < 0 || most == len(out) {
			add(t)
			return out
		}
		add(t.cut(0, n))
		t = t.cut(n+len(by), len(t.s))
	}
}

// splitTextRight is splitText from the right.
func splitTextRight(r *run, t text, sep, limit Value) []Value {
	most := r.index(limit, "maxsplit")
	var out []Value
	add := func(part text) {
		r.charge(valueBytes)
		out = append(out, part)
	}
	if isNone(sep) {
		t = t.trim(isSpace, false, true)
		for t.s != "" {
			n := strings.LastIndexFunc(t.s, isSpace)
			if most == len(out) || n < 0 {
				add(t)
				break
			}
			last := t.trim(func(c rune) bool { return !isSpace(c) }, false, true)
			add(t.cut(len(last.s), len(t.s)))
			t = last.trim(isSpace, false, true)
		}
	} else {
		by := separator(r, sep)
		for {
			n := strings.LastIndex(t.s, by)
			if n < 0 || most == len(out) {
				add(t)
				break
			}
			add(t.cut(n+len(by), len(t.s)))
			t = t.cut(0, n)
		}
	}
	slices.Reverse(out)
	return out
}

func separator(r *run, sep Value) string {
	s := r.text(sep, "the separator").s
	if s == "" {
		r.fail("empty separator")
	}
	return s
}

func endsLine(c rune) bool {
	return c >= '\n' && c <= '\r' || c >= 0x1c && c <= 0x1e || c == 0x85 || c == 0x2028 || c == 0x2029
}

// splitLines splits at each end of line that Python knows.
func splitLines(r *run, t text, keep bool) []Value {
	var out []Value
	for t.s != "" {
		n := strings.IndexFunc(t.s, endsLine)
		r.charge(valueBytes)
		if n < 0 {
			return append(out, t)
		}
		end := n + len(string(firstRune(t.s[n:])))
		if strings.HasPrefix(t.s[n:], "\r\n") {
			end = n + 2
		}
		if keep {
			n = end
		}
		out = append(out, t.cut(0, n))
		t = t.cut(end, len(t.s))
	}
	return out
}

// replaceText replaces up to count occurrences, all if count is negative.
func replaceText(r *run, t, old, by text, count int) text {
	b := builder{run: r}
	if old.s == "" {
		for ; count != 0; count-- {
			b.write(by)
			if t.s == "" {
				break
			}
			n := t.offset(1)
			b.write(t.cut(0, n))
			t = t.cut(n, len(t.s))
		}
		b.write(t)
		return b.text().marked(t.safe)
	}
	for ; count != 0; count-- {
		n := strings.Index(t.s, old.s)
		if n < 0 {
			break
		}
		b.write(t.cut(0, n))
		b.write(by)
		t = t.cut(n+len(old.s), len(t.s))
	}
	b.write(t)
	return b.text().marked(t.safe)
}

// joinMethod is str.join, which takes only texts.
func joinMethod(r *run, self Value, a []Value) Value {
	b := builder{run: r}
	for i, item := range r.all(a[0]) {
		t, ok := item.(text)
		if !ok {
			r.fail("sequence item %d: expected str instance, %s found", i, item.typeName())
		}
		if i > 0 {
			b.write(self.(text))
		}
		b.write(t)
	}
	return b.text().marked(self.(text).safe)
}
