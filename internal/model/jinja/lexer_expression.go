package jinja

import (
	"strings"
	"unicode"
)

var (
	operators = []string{"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".", ":", "|", ",", ";"}
	closing   = map[string]string{"(": ")", "[": "]", "{": "}"}
)

// expression reads tokens up to the end of a tag. Brackets hide an end: the
// braces of a dict are no end of an expression.
func (l *lexer) expression(end tokenKind) {
	var open []string
	ends := variableEnd
	if end == tokenBlockEnd {
		ends = blockEnd
	}
	for {
		if n := ends(l.rest()); n > 0 && len(open) == 0 {
			l.emit(end, "")
			l.advance(n)
			return
		}
		if l.rest() == "" {
			l.emit(tokenEOF, "")
			return
		}
		switch r := firstRune(l.rest()); {
		case isSpace(r):
			l.advance(len(l.rest()) - len(strings.TrimLeftFunc(l.rest(), isSpace)))
		case r >= '0' && r <= '9':
			l.number()
		case isWord(r):
			l.name()
		case r == '"' || r == '\'':
			l.str()
		default:
			open = l.operator(open)
		}
	}
}

func (l *lexer) name() {
	s := l.rest()
	n := len(s) - len(strings.TrimLeftFunc(s, isWord))
	if r := firstRune(s); r != '_' && !unicode.IsLetter(r) && !unicode.Is(unicode.Nl, r) {
		l.fail("%q is not a name", s[:n])
	}
	l.emit(tokenName, s[:n])
	l.advance(n)
}

func (l *lexer) operator(open []string) []string {
	for _, op := range operators {
		if !strings.HasPrefix(l.rest(), op) {
			continue
		}
		if c, ok := closing[op]; ok {
			open = append(open, c)
		} else if op == ")" || op == "]" || op == "}" {
			if len(open) == 0 {
				l.fail("unexpected '%s'", op)
			}
			if want := open[len(open)-1]; want != op {
				l.fail("unexpected '%s', want '%s'", op, want)
			}
			open = open[:len(open)-1]
		}
		l.emit(tokenOperator, op)
		l.advance(len(op))
		return open
	}
	l.fail("unexpected character %q", firstRune(l.rest()))
	return nil
}

// str reads a string literal.
func (l *lexer) str() {
	s := l.rest()
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			text, err := unescape(s[1:i])
			if err != "" {
				l.fail("%s", err)
			}
			l.emit(tokenString, text)
			l.advance(i + 1)
			return
		}
	}
	l.fail("a string has no end")
}
