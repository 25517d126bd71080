package jinja

import "slices"

// A cursor reads tokens.
type cursor struct {
	tokens []token
	pos    int
	depth  int // of nested expressions and statements
}

func (c *cursor) current() token { return c.tokens[min(c.pos, len(c.tokens)-1)] }

func (c *cursor) look() token { return c.tokens[min(c.pos+1, len(c.tokens)-1)] }

func (c *cursor) next() token {
	t := c.current()
	c.pos++
	return t
}

func (c *cursor) isName(names ...string) bool {
	t := c.current()
	return t.kind == tokenName && slices.Contains(names, t.text)
}

func (c *cursor) isOperator(op string) bool { return c.current().is(tokenOperator, op) }

func (c *cursor) skipName(name string) bool {
	if c.isName(name) {
		c.pos++
		return true
	}
	return false
}

func (c *cursor) skipOperator(op string) bool {
	if c.isOperator(op) {
		c.pos++
		return true
	}
	return false
}

func (c *cursor) fail(format string, args ...any) {
	failAt(Syntax, c.current().line, "", format, args...)
}

func (c *cursor) expectOperator(op string) {
	if !c.skipOperator(op) {
		c.fail("unexpected %s, want '%s'", c.current().describe(), op)
	}
}

func (c *cursor) expectName() string {
	if c.current().kind != tokenName {
		c.fail("unexpected %s, want a name", c.current().describe())
	}
	return c.next().text
}

func (c *cursor) expectKeyword(name string) {
	if !c.skipName(name) {
		c.fail("unexpected %s, want '%s'", c.current().describe(), name)
	}
}

func (c *cursor) expect(kind tokenKind) {
	if c.current().kind != kind {
		c.fail("unexpected %s, want %s", c.current().describe(), token{kind: kind}.describe())
	}
	c.pos++
}

// enter bounds the depth of nodes, so that their evaluation is bounded too.
func (c *cursor) enter() {
	c.depth++
	if c.depth > maxNesting {
		failAt(Exceeded, c.current().line, "", "the template is nested more than %d levels deep", maxNesting)
	}
}

func (c *cursor) leave() { c.depth-- }

// defines reports whether the template has a macro or variable of a name.
func (c *cursor) defines(name string) bool {
	for i, t := range c.tokens[1:] {
		if t.is(tokenName, name) && (c.tokens[i].is(tokenName, "macro") || c.tokens[i].is(tokenName, "set")) {
			return true
		}
	}
	return false
}
