package jinja

import "slices"

// A parser turns tokens into statements.
type parser struct {
	expressionParser
	loops int // around the current statement, in the same macro
}

// An expressionParser turns tokens into expressions.
type expressionParser struct {
	cursor
	ifs     int      // around the current statement
	unknown []*Error // filters and tests that do not exist, where the template certainly needs them
	filters map[string]filter
	uses    map[string]bool // special names that the current macro uses
}

// notKnown notes a filter or test that does not exist. It is no fault in a
// branch that may never be evaluated.
func (p *expressionParser) notKnown(line int, construct string) {
	if p.ifs == 0 {
		p.unknown = append(p.unknown, &Error{Reason: Syntax, Line: line, Construct: construct, Message: "it does not exist"})
	}
}

// template parses a whole template.
func (p *parser) template() []stmt {
	body := p.body()
	if p.current().kind == tokenBlockBegin {
		p.pos++
		p.fail("the tag %q has no beginning", p.current().text)
	}
	if len(p.unknown) > 0 {
		panic(p.unknown[0])
	}
	return body
}

// body parses up to a tag that begins with one of the names, which stays the
// current token, or up to the end.
func (p *parser) body(until ...string) []stmt {
	p.enter()
	defer p.leave()
	var body []stmt
	for {
		switch t := p.current(); t.kind {
		case tokenData:
			body = append(body, dataStmt{t.text})
			p.pos++
		case tokenVariableBegin:
			p.pos++
			body = append(body, printStmt{p.tuple(tupleOptions{conditional: true})})
			p.expect(tokenVariableEnd)
		case tokenBlockBegin:
			if p.look().kind == tokenName && slices.Contains(until, p.look().text) {
				p.pos++
				return body
			}
			if p.look().kind == tokenName && isEnd(p.look().text) {
				return body
			}
			p.pos++
			body = append(body, p.statement())
			p.expect(tokenBlockEnd)
		default:
			return body
		}
	}
}

func isEnd(name string) bool {
	return slices.Contains([]string{
		"elif", "else", "endif", "endfor", "endset", "endmacro", "endcall", "endfilter", "endwith", "endgeneration", "endautoescape",
	}, name)
}

// block parses the rest of a tag and the body after it, up to one of the tags,
// whose name it returns.
func (p *parser) block(opened token, until ...string) (body []stmt, end string) {
	p.skipOperator(":")
	p.expect(tokenBlockEnd)
	body = p.body(until...)
	if !p.isName(until...) {
		if p.current().kind == tokenBlockBegin {
			p.pos++
		}
		p.fail("unexpected %s, want %s for the tag %q of line %d", p.current().describe(), until[len(until)-1], opened.text, opened.line)
	}
	return body, p.next().text
}
