package jinja

import "strings"

// pad widens a text with a character.
func (r *run) pad(t text, a []Value, align string) Value {
	fill := r.text(a[1], "the fill character")
	if fill.runes() != 1 {
		r.fail("the fill character must be exactly one character long")
	}
	return r.widen(t, r.index(a[0], "width"), fill, align)
}

func (r *run) widen(t text, width int, fill text, align string) text {
	n := width - t.runes()
	if n <= 0 {
		return t
	}
	left, right := 0, n
	switch align {
	case "right":
		left, right = n, 0
	case "center":
		left = n/2 + n&width&1 // as str.center, which puts more on the left if both are odd
		right = n - left
	}
	r.reserve(n, len(fill.s))
	b := builder{run: r}
	for range left {
		b.write(fill)
	}
	b.write(t)
	for range right {
		b.write(fill)
	}
	return b.text().marked(t.safe)
}

func zeroFill(r *run, self Value, a []Value) Value {
	t := self.(text)
	n := r.index(a[0], "width") - t.runes()
	if n <= 0 {
		return t
	}
	r.reserve(n, 1)
	head := 0
	if strings.HasPrefix(t.s, "+") || strings.HasPrefix(t.s, "-") {
		head = 1
	}
	return r.join(t.cut(0, head), text{s: strings.Repeat("0", n)}, t.cut(head, len(t.s))).marked(t.safe)
}

func expandTabs(r *run, self Value, a []Value) Value {
	t, size := self.(text), r.index(a[0], "tabsize")
	b := builder{run: r}
	column := 0
	for i, c := range t.s {
		switch c {
		case '\t':
			if size > 0 {
				n := size - column%size
				r.reserve(n, 1)
				b.foreign(strings.Repeat(" ", n), t.cut(i, i+1))
				column += n
			}
			continue
		case '\n', '\r':
			column = -1
		}
		b.write(t.cut(i, min(i+len(string(c)), len(t.s))))
		column++
	}
	return b.text().marked(t.safe)
}
