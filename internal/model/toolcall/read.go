package toolcall

import (
	"bytes"
	"strings"
)

// spaces returns how many spaces in begins with.
func spaces(in []byte) int { return len(in) - len(bytes.TrimLeft(in, " \t\r\n")) }

// literal reports which of some texts in begins with. It is -1 if there is none, and
// undecided if more bytes could make one.
func literal(in []byte, texts ...string) int {
	out := -1
	for i, t := range texts {
		if bytes.HasPrefix(in, []byte(t)) {
			return i
		}
		if strings.HasPrefix(t, string(in)) {
			out = undecided
		}
	}
	return out
}

const undecided = -2

// A cutter finds the end of a text that comes in pieces, without reading bytes
// again and again. The zero value is ready.
type cutter struct{ from int }

// cut returns what comes before the mark, and how many bytes both have. It reports
// whether the mark has come.
func (c *cutter) cut(in []byte, mark string) (before string, n int, found bool) {
	i := bytes.Index(in[c.from:], []byte(mark))
	if i < 0 {
		c.from = max(0, len(in)-len(mark)+1)
		return "", 0, false
	}
	i += c.from
	c.from = 0
	return string(in[:i]), i + len(mark), true
}

// cutBefore is cut with a mark that counts only before one of some texts, with spaces
// between: what comes before it may hold the mark, too.
func (c *cutter) cutBefore(in []byte, mark string, texts ...string) (before string, n int, found bool) {
	for {
		i := bytes.Index(in[c.from:], []byte(mark))
		if i < 0 {
			c.from = max(c.from, len(in)-len(mark)+1)
			return "", 0, false
		}
		i += c.from
		rest := in[i+len(mark):]
		switch literal(rest[spaces(rest):], texts...) {
		case undecided:
			c.from = i
			return "", 0, false
		case -1:
			c.from = i + len(mark)
			continue
		}
		c.from = 0
		return string(in[:i]), i + len(mark), true
	}
}

// An object reads the arguments of a call that has begun.
type object struct {
	p    *Parser
	scan scanner
}

// read takes bytes up to the end of the object: then it returns ended.
func (o *object) read(in []byte) (int, verdict) {
	var out []byte
	for i, c := range in {
		next, ok := o.scan.step(out, c)
		out = next
		if !ok {
			o.p.arguments(out)
			return i, broken
		}
		if o.scan.done {
			o.p.arguments(out)
			o.scan = scanner{}
			return i + 1, ended
		}
	}
	o.p.arguments(out)
	return len(in), more
}
