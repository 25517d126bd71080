package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A lexer splits a template into tokens. It applies the rules of white space:
// trim_blocks removes the newline after a tag, lstrip_blocks the white space
// before a tag that begins its line; "-" in a delimiter strips all white space
// on its side, "+" keeps it.
type lexer struct {
	source  string
	pos     int
	line    int
	atStart bool // the last match ended with a newline, or there was none
	tokens  []token
}

// lex returns the tokens of a template, the last of which is tokenEOF.
func lex(source string) []token {
	l := &lexer{source: normalize(source), line: 1, atStart: true}
	for l.pos < len(l.source) {
		l.root()
	}
	l.emit(tokenEOF, "")
	return l.tokens
}

// normalize makes every line end with "\n" and removes the last one.
func normalize(source string) string {
	source = strings.ReplaceAll(source, "\r\n", "\n")
	source = strings.ReplaceAll(source, "\r", "\n")
	return strings.TrimSuffix(source, "\n")
}

func (l *lexer) fail(format string, args ...any) {
	failAt(Syntax, l.line, "", format, args...)
}

func (l *lexer) emit(kind tokenKind, text string) {
	l.tokens = append(l.tokens, token{kind: kind, line: l.line, text: text})
}

// advance moves over n bytes.
func (l *lexer) advance(n int) {
	moved := l.source[l.pos : l.pos+n]
	l.line += strings.Count(moved, "\n")
	l.atStart = strings.HasSuffix(moved, "\n")
	l.pos += n
}

func (l *lexer) rest() string { return l.source[l.pos:] }

// root reads text up to the next tag, and the tag.
func (l *lexer) root() {
	n := nextTag(l.rest())
	if n < 0 {
		l.emit(tokenData, l.rest())
		l.advance(len(l.rest()))
		return
	}
	tag := l.rest()[n:]
	open, signed := tag[:2], sign(tag[2:])
	l.text(l.rest()[:n], open, signed)
	if raw := rawBegin(tag); raw > 0 {
		l.advance(n + raw)
		l.raw()
		return
	}
	l.advance(n + len(open) + len(signed))
	switch open {
	case "{#":
		l.comment()
	case "{%":
		l.emit(tokenBlockBegin, "")
		l.expression(tokenBlockEnd)
	default:
		l.emit(tokenVariableBegin, "")
		l.expression(tokenVariableEnd)
	}
}

// nextTag returns where the next tag begins, or -1.
func nextTag(s string) int {
	for i := 0; ; i++ {
		n := strings.IndexByte(s[i:], '{')
		if n < 0 || i+n+1 >= len(s) {
			return -1
		}
		i += n
		if next := s[i+1]; next == '{' || next == '%' || next == '#' {
			return i
		}
	}
}

// sign returns the mark of white space that s begins with.
func sign(s string) string {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[:1]
	}
	return ""
}

// text emits the text before a tag.
func (l *lexer) text(s, open, signed string) {
	switch {
	case signed == "-":
		s = strings.TrimRightFunc(s, isSpace)
	case signed == "" && open != "{{":
		start := strings.LastIndexByte(s, '\n') + 1
		if (start > 0 || l.atStart) && strings.TrimLeftFunc(s[start:], isSpace) == "" {
			s = s[:start]
		}
	}
	if s != "" {
		l.emit(tokenData, s)
	}
}

// rawBegin returns the length of the tag raw that s begins with, or 0.
func rawBegin(s string) int {
	if !strings.HasPrefix(s, "{%") {
		return 0
	}
	rest := s[2+len(sign(s[2:])):]
	rest, found := strings.CutPrefix(strings.TrimLeftFunc(rest, isSpace), "raw")
	rest = strings.TrimLeftFunc(rest, isSpace)
	if !found {
		return 0
	}
	if after, ok := strings.CutPrefix(rest, "-%}"); ok {
		return len(s) - len(strings.TrimLeftFunc(after, isSpace))
	}
	if after, ok := strings.CutPrefix(rest, "%}"); ok {
		return len(s) - len(after)
	}
	return 0
}

// raw reads text up to the tag endraw.
func (l *lexer) raw() {
	s := l.rest()
	for at := 0; ; at += 2 {
		n := strings.Index(s[at:], "{%")
		if n < 0 {
			l.fail("the tag raw has no endraw")
		}
		at += n
		signed := sign(s[at+2:])
		after := strings.TrimLeftFunc(s[at+2+len(signed):], isSpace)
		after, found := strings.CutPrefix(after, "endraw")
		end := blockEnd(strings.TrimLeftFunc(after, isSpace))
		if !found || end == 0 {
			continue
		}
		l.text(s[:at], "{%", signed)
		l.advance(len(s) - len(strings.TrimLeftFunc(after, isSpace)) + end)
		return
	}
}

// comment moves behind the end of a comment.
func (l *lexer) comment() {
	s := l.rest()
	n := strings.Index(s, "#}")
	if n < 0 {
		if s != "" { // as in Jinja
			l.fail("a comment has no end")
		}
		return
	}
	end := n + len("#}")
	switch {
	case n > 0 && s[n-1] == '+':
	case n > 0 && s[n-1] == '-':
		end = len(s) - len(strings.TrimLeftFunc(s[end:], isSpace))
	case strings.HasPrefix(s[end:], "\n"):
		end++
	}
	l.advance(end)
}

// blockEnd returns the length of the end of a block that s begins with, or 0.
func blockEnd(s string) int {
	if after, ok := strings.CutPrefix(s, "-%}"); ok {
		return len(s) - len(strings.TrimLeftFunc(after, isSpace))
	}
	if strings.HasPrefix(s, "+%}") {
		return 3
	}
	if after, ok := strings.CutPrefix(s, "%}"); ok {
		return len(s) - len(strings.TrimPrefix(after, "\n"))
	}
	return 0
}

// variableEnd returns the length of the end of an expression, or 0.
func variableEnd(s string) int {
	if after, ok := strings.CutPrefix(s, "-}}"); ok {
		return len(s) - len(strings.TrimLeftFunc(after, isSpace))
	}
	if strings.HasPrefix(s, "}}") {
		return 2
	}
	return 0
}

// isSpace reports whether Python takes r as white space.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
