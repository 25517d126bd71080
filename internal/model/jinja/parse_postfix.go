package jinja

import "slices"

// postfix parses attributes, subscripts and calls.
func (p *expressionParser) postfix(e expr) expr {
	for {
		t := p.current()
		switch {
		case t.is(tokenOperator, "."):
			p.pos++
			e = p.attribute(e, t.line)
		case t.is(tokenOperator, "["):
			p.pos++
			e = itemExpr{e, p.subscript(), t.line}
		case t.is(tokenOperator, "("):
			p.checkCall(e, t.line)
			e = callExpr{e, p.arguments(), t.line}
		default:
			return e
		}
	}
}

// checkCall refuses functions and methods that Jinja has and this package has
// not, wherever the template calls them.
func (p *expressionParser) checkCall(e expr, line int) {
	switch e := e.(type) {
	case nameExpr:
		if !p.defines(e.name) {
			refuse(line, "function", e.name, unsupportedFunctions)
		}
	case attributeExpr:
		refuse(line, "method", e.name, unsupportedMethods)
	}
}

// refuse ends parsing if a name is one of those that are not supported.
func refuse(line int, kind, name string, unsupported []string) {
	if slices.Contains(unsupported, name) {
		failAt(Unsupported, line, kind+" \""+name+"\"", "it is not supported in chat templates")
	}
}

func (p *expressionParser) attribute(e expr, line int) expr {
	t := p.next()
	switch t.kind {
	case tokenName:
		return attributeExpr{e, t.text, line}
	case tokenNumber:
		if _, ok := whole(t.value); ok {
			return itemExpr{e, constExpr{t.value}, line}
		}
	default:
	}
	p.pos--
	p.fail("unexpected %s, want a name or number", t.describe())
	return nil
}

// subscript parses what is between square brackets.
func (p *expressionParser) subscript() expr {
	var items []expr
	for !p.isOperator("]") {
		if len(items) > 0 {
			p.expectOperator(",")
		}
		items = append(items, p.subscriptItem())
	}
	p.pos++
	if len(items) == 1 {
		return items[0]
	}
	if slices.ContainsFunc(items, func(e expr) bool { _, ok := e.(cutExpr); return ok }) {
		p.fail("a slice cannot be part of a tuple")
	}
	return tupleExpr{items}
}

func (p *expressionParser) subscriptItem() expr {
	part := func() expr {
		if p.isOperator(":") || p.isOperator("]") || p.isOperator(",") {
			return nil
		}
		return p.expression()
	}
	e := cutExpr{start: part()}
	if !p.skipOperator(":") {
		if e.start == nil {
			p.fail("unexpected %s, want an expression", p.current().describe())
		}
		return e.start
	}
	e.stop = part()
	if p.skipOperator(":") {
		e.step = part()
	}
	return e
}

// arguments parses the arguments of a call, with their brackets.
func (p *expressionParser) arguments() argumentExprs {
	line := p.current().line
	p.expectOperator("(")
	a := argumentExprs{}
	check := func(ok bool) {
		if !ok {
			failAt(Syntax, line, "", "invalid syntax for function call expression")
		}
	}
	for !p.isOperator(")") {
		switch {
		case p.skipOperator("*"):
			check(a.many == nil && a.mapping == nil)
			a.many = p.expression()
		case p.skipOperator("**"):
			check(a.mapping == nil)
			a.mapping = p.expression()
		case p.current().kind == tokenName && p.look().is(tokenOperator, "="):
			check(a.mapping == nil)
			name := p.next().text
			check(len(a.names) < maxArguments && !slices.Contains(a.names, name))
			p.pos++
			a.names, a.named = append(a.names, name), append(a.named, p.expression())
		default:
			check(a.many == nil && a.mapping == nil && len(a.names) == 0)
			a.positional = append(a.positional, p.expression())
		}
		if !p.isOperator(")") {
			p.expectOperator(",")
		}
	}
	p.pos++
	return a
}

// filtersAndTests parses what follows an expression: "|", "is" and calls.
func (p *expressionParser) filtersAndTests(e expr) expr {
	for {
		t := p.current()
		switch {
		case t.is(tokenOperator, "|"):
			p.pos++
			e = p.filterCall(e)
		case t.is(tokenName, "is"):
			p.pos++
			e = p.test(e, t)
		case t.is(tokenOperator, "("):
			e = callExpr{e, p.arguments(), t.line}
		default:
			return e
		}
	}
}

func (p *expressionParser) dottedName() string {
	name := p.expectName()
	for p.skipOperator(".") {
		name += "." + p.expectName()
	}
	return name
}

// filterCall parses the name and arguments of a filter.
func (p *expressionParser) filterCall(of expr) filterExpr {
	line := p.current().line
	f := filterExpr{of: of, line: line, name: p.dottedName()}
	if p.isOperator("(") {
		f.args = p.arguments()
	}
	var known bool
	f.call, known = p.filters[f.name]
	if !known {
		refuse(line, "filter", f.name, unsupportedFilters)
		p.notKnown(line, "filter \""+f.name+"\"")
	}
	return f
}

func (p *expressionParser) test(of expr, is token) expr {
	negated := p.skipName("not")
	e := testExpr{of: of, line: is.line, name: p.dottedName()}
	switch t := p.current(); {
	case t.is(tokenOperator, "("):
		e.args = p.arguments()
	case t.is(tokenName, "is"):
		p.fail("You cannot chain multiple tests with is")
	case t.kind == tokenName && !slices.Contains([]string{"else", "or", "and"}, t.text),
		t.kind == tokenString, t.kind == tokenNumber, t.is(tokenOperator, "["), t.is(tokenOperator, "{"):
		e.args.positional = []expr{p.postfix(p.primary())}
	}
	if _, known := tests[e.name]; !known {
		refuse(is.line, "test", e.name, unsupportedTests)
		p.notKnown(is.line, "test \""+e.name+"\"")
	}
	if negated {
		return unaryExpr{"not", e, is.line}
	}
	return e
}
