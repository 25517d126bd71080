package jinja

import (
	"slices"
	"strings"
)

type tupleOptions struct {
	conditional bool // "a if b else c" is allowed outside of brackets
	brackets    bool // it is in brackets, so that it can be empty
}

// tuple parses expressions with commas between them, or one without a comma.
func (p *expressionParser) tuple(o tupleOptions) expr {
	var items []expr
	isTuple := false
	for !p.tupleEnd() {
		if o.conditional || o.brackets {
			items = append(items, p.expression())
		} else {
			items = append(items, p.or())
		}
		if !p.skipOperator(",") {
			break
		}
		isTuple = true
	}
	if !isTuple && len(items) > 0 {
		return items[0]
	}
	if !isTuple && !o.brackets {
		p.fail("unexpected %s, want an expression", p.current().describe())
	}
	return tupleExpr{items}
}

func (p *expressionParser) tupleEnd() bool {
	t := p.current()
	return t.kind == tokenVariableEnd || t.kind == tokenBlockEnd || t.is(tokenOperator, ")")
}

// expression parses an expression, which can be conditional.
func (p *expressionParser) expression() expr {
	p.enter()
	defer p.leave()
	unknown := len(p.unknown)
	e := p.or()
	for p.isName("if") {
		e = p.conditional(e)
		p.unknown = p.unknown[:unknown] // it may never be evaluated
	}
	return e
}

func (p *expressionParser) conditional(yes expr) expr {
	p.pos++
	e := condExpr{condition: p.or(), yes: yes}
	if p.skipName("else") {
		e.no = p.expression()
	}
	return e
}

func (p *expressionParser) or() expr {
	left := p.and()
	for p.skipName("or") {
		left = logicExpr{false, left, p.and()}
	}
	return left
}

func (p *expressionParser) and() expr {
	left := p.not()
	for p.skipName("and") {
		left = logicExpr{true, left, p.not()}
	}
	return left
}

func (p *expressionParser) not() expr {
	if line := p.current().line; p.skipName("not") {
		p.enter()
		defer p.leave()
		return unaryExpr{"not", p.not(), line}
	}
	return p.compare()
}

func (p *expressionParser) compare() expr {
	e := compareExpr{line: p.current().line}
	e.first = p.sum()
	for {
		t := p.current()
		var op string
		switch {
		case t.kind == tokenOperator && slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, t.text):
			op = t.text
		case p.isName("in"):
			op = "in"
		case p.isName("not") && p.look().is(tokenName, "in"):
			op = "not in"
			p.pos++
		}
		if op == "" {
			break
		}
		p.pos++
		e.ops, e.rest = append(e.ops, op), append(e.rest, p.sum())
	}
	if len(e.ops) == 0 {
		return e.first
	}
	return e
}

// chain parses operators of one precedence from left to right.
func (p *expressionParser) chain(operand func() expr, ops ...string) expr {
	left := operand()
	for {
		t := p.current()
		if t.kind != tokenOperator || !slices.Contains(ops, t.text) {
			return left
		}
		p.pos++
		left = binaryExpr{t.text, left, operand(), t.line}
	}
}

func (p *expressionParser) sum() expr { return p.chain(p.concat, "+", "-") }

func (p *expressionParser) concat() expr {
	parts := []expr{p.product()}
	for p.skipOperator("~") {
		parts = append(parts, p.product())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return concatExpr{parts}
}

func (p *expressionParser) product() expr { return p.chain(p.power, "*", "/", "//", "%") }

// power is left-associative in Jinja, unlike in Python.
func (p *expressionParser) power() expr {
	return p.chain(func() expr { return p.unary(true) }, "**")
}

func (p *expressionParser) unary(filters bool) expr {
	p.enter()
	defer p.leave()
	var e expr
	switch t := p.current(); {
	case t.is(tokenOperator, "-"), t.is(tokenOperator, "+"):
		p.pos++
		e = unaryExpr{t.text, p.unary(false), t.line}
	default:
		e = p.primary()
	}
	e = p.postfix(e)
	if filters {
		e = p.filtersAndTests(e)
	}
	return e
}

func (p *expressionParser) primary() expr {
	t := p.next()
	switch {
	case t.kind == tokenName:
		switch t.text {
		case "true", "True":
			return constExpr{boolean(true)}
		case "false", "False":
			return constExpr{boolean(false)}
		case "none", "None":
			return constExpr{none{}}
		case "caller", "kwargs", "varargs":
			if p.uses != nil {
				p.uses[t.text] = true
			}
		case "self", "super":
			if p.isOperator(".") || p.isOperator("(") {
				failAt(Unsupported, t.line, "\""+t.text+"\"", "chat templates have no blocks")
			}
		}
		return nameExpr{t.text, t.line}
	case t.kind == tokenString:
		var s strings.Builder
		s.WriteString(t.text)
		for p.current().kind == tokenString {
			s.WriteString(p.next().text)
		}
		return constExpr{text{s: s.String()}}
	case t.kind == tokenNumber:
		return constExpr{t.value}
	case t.is(tokenOperator, "("):
		e := p.tuple(tupleOptions{brackets: true})
		p.expectOperator(")")
		return e
	case t.is(tokenOperator, "["):
		e := listExpr{}
		for !p.isOperator("]") {
			e.items = append(e.items, p.expression())
			if !p.isOperator("]") {
				p.expectOperator(",")
			}
		}
		p.pos++
		return e
	case t.is(tokenOperator, "{"):
		return p.dict(t)
	}
	p.pos--
	p.fail("unexpected %s, want an expression", t.describe())
	return nil
}

func (p *expressionParser) dict(t token) expr {
	e := dictExpr{line: t.line}
	for !p.isOperator("}") {
		e.keys = append(e.keys, p.expression())
		p.expectOperator(":")
		e.values = append(e.values, p.expression())
		if !p.isOperator("}") {
			p.expectOperator(",")
		}
	}
	p.pos++
	return e
}
