package jinja

import "slices"

// unsupportedTags exist in Jinja and not here: they reach other templates, or
// need an extension.
var unsupportedTags = []string{"extends", "block", "include", "import", "from", "do", "trans", "debug"}

func (p *parser) statement() stmt {
	t := p.current()
	if t.kind != tokenName {
		p.fail("unexpected %s, want the name of a tag", t.describe())
	}
	p.pos++
	switch t.text {
	case "for":
		return p.forTag(t)
	case "if":
		return p.ifTag(t)
	case "set":
		return p.setTag(t)
	case "macro":
		return macroStmt{p.macroTag(t)}
	case "call":
		return p.callTag(t)
	case "filter":
		f := p.filterCall(nil)
		for p.skipOperator("|") {
			f = p.filterCall(f)
		}
		body := p.scoped(t, "endfilter")
		return filterStmt{f, body}
	case "with":
		return p.withTag(t)
	case "generation":
		body := p.scoped(t, "endgeneration")
		return scopeStmt{body}
	case "autoescape":
		return p.autoescapeTag(t)
	case "print":
		parts := []expr{p.expression()}
		for p.skipOperator(",") {
			parts = append(parts, p.expression())
		}
		return printStmt{concatExpr{parts}}
	case "break", "continue":
		if p.loops == 0 {
			failAt(Syntax, t.line, "", "the tag %q is outside of a loop", t.text)
		}
		if t.text == "break" {
			return jumpStmt{breakLoop}
		}
		return jumpStmt{continueLoop}
	}
	if slices.Contains(unsupportedTags, t.text) {
		failAt(Unsupported, t.line, "tag \""+t.text+"\"", "chat templates have no access to other templates or extensions")
	}
	failAt(Syntax, t.line, "", "there is no tag %q", t.text)
	return nil
}

// scoped parses a block that no break leaves.
func (p *parser) scoped(t token, end string) []stmt {
	loops := p.loops
	p.loops = 0
	defer func() { p.loops = loops }()
	body, _ := p.block(t, end)
	return body
}

func (p *parser) forTag(t token) stmt {
	st := &forStmt{line: t.line}
	st.target = p.target(false)
	p.expectKeyword("in")
	st.over = p.tuple(tupleOptions{})
	if p.skipName("if") {
		st.condition = p.expression()
	}
	st.recursive = p.skipName("recursive")
	p.loops++
	var end string
	st.body, end = p.block(t, "else", "endfor")
	p.loops--
	if end == "else" {
		st.otherwise, _ = p.block(t, "endfor")
	}
	return st
}

func (p *parser) ifTag(t token) stmt {
	st := ifStmt{}
	p.ifs++
	defer func() { p.ifs-- }()
	for {
		st.conditions = append(st.conditions, p.tuple(tupleOptions{}))
		body, end := p.block(t, "elif", "else", "endif")
		st.bodies = append(st.bodies, body)
		if end == "else" {
			st.otherwise, _ = p.block(t, "endif")
		}
		if end != "elif" {
			return st
		}
	}
}

func (p *parser) setTag(t token) stmt {
	to := p.target(true)
	if p.skipOperator("=") {
		return setStmt{to, p.tuple(tupleOptions{conditional: true})}
	}
	st := setBlockStmt{target: to}
	for p.skipOperator("|") {
		var of expr
		if st.filter != nil {
			of = *st.filter
		}
		f := p.filterCall(of)
		st.filter = &f
	}
	st.body = p.scoped(t, "endset")
	return st
}

func (p *parser) withTag(t token) stmt {
	st := withStmt{}
	for p.current().kind != tokenBlockEnd {
		if len(st.targets) > 0 {
			p.expectOperator(",")
		}
		st.targets = append(st.targets, p.target(false))
		p.expectOperator("=")
		st.values = append(st.values, p.expression())
	}
	st.body, _ = p.block(t, "endwith")
	return st
}

// autoescapeTag parses the tag autoescape, which chat templates can only turn
// off.
func (p *parser) autoescapeTag(t token) stmt {
	if c, ok := p.expression().(constExpr); !ok || truth(c.value) {
		failAt(Unsupported, t.line, "tag \"autoescape\"", "prompts are no HTML")
	}
	body, _ := p.block(t, "endautoescape")
	return scopeStmt{body}
}

// macroTag parses a macro.
func (p *parser) macroTag(t token) *macroDef {
	m := &macroDef{name: p.targetName(), line: t.line}
	p.signature(m)
	p.macroBody(m, t, "endmacro")
	return m
}

func (p *parser) signature(m *macroDef) {
	p.expectOperator("(")
	for !p.isOperator(")") {
		if len(m.params) > 0 {
			p.expectOperator(",")
		}
		name := p.targetName()
		if len(m.params) == maxArguments {
			failAt(Exceeded, p.current().line, "", "a macro has more than %d parameters", maxArguments)
		}
		if slices.Contains(m.params, name) {
			p.fail("the parameter %q occurs twice", name)
		}
		m.params = append(m.params, name)
		if p.skipOperator("=") {
			m.defaults = append(m.defaults, p.expression())
		} else if len(m.defaults) > 0 {
			p.fail("non-default argument follows default argument")
		}
	}
	p.expectOperator(")")
}

// macroBody parses the body and notes which special names it uses.
func (p *parser) macroBody(m *macroDef, t token, end string) {
	outer := p.uses
	p.uses = map[string]bool{}
	m.body = p.scoped(t, end)
	m.caller, m.kwargs, m.varargs = p.uses["caller"], p.uses["kwargs"], p.uses["varargs"]
	if i := slices.Index(m.params, "caller"); i >= 0 && i < len(m.params)-len(m.defaults) && m.caller {
		p.fail(`when the parameter "caller" is named, it must have a default`)
	}
	for name := range p.uses {
		if outer != nil && !slices.Contains(m.params, name) {
			outer[name] = true
		}
	}
	p.uses = outer
}

func (p *parser) callTag(t token) stmt {
	m := &macroDef{line: t.line}
	if p.isOperator("(") {
		p.signature(m)
	}
	call, ok := p.expression().(callExpr)
	if !ok {
		failAt(Syntax, t.line, "", "the tag call needs a call")
	}
	p.macroBody(m, t, "endcall")
	return callStmt{call, m}
}

// targetName parses the name that an assignment sets.
func (p *parser) targetName() string {
	name := p.expectName()
	if slices.Contains([]string{"true", "false", "none", "True", "False", "None"}, name) {
		p.fail("can't assign to %q", name)
	}
	return name
}

// target parses what an assignment sets, with attributes of namespaces or
// without.
func (p *parser) target(attributes bool) target {
	line := p.current().line
	var items []target
	isTuple := false
	for len(items) == 0 || !p.tupleEnd() {
		items = append(items, p.simpleTarget(attributes))
		if !p.skipOperator(",") {
			break
		}
		isTuple = true
	}
	if !isTuple {
		return items[0]
	}
	return target{items: items, tuple: true, line: line}
}

func (p *parser) simpleTarget(attributes bool) target {
	p.enter()
	defer p.leave()
	line := p.current().line
	if p.skipOperator("(") {
		t := p.target(attributes)
		p.expectOperator(")")
		return t
	}
	t := target{name: p.targetName(), line: line}
	if attributes && p.skipOperator(".") {
		t.attr = p.expectName()
	}
	if t.name == "loop" && !attributes {
		p.fail("can't assign to special loop variable in for-loop")
	}
	return t
}
