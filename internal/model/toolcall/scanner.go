package toolcall

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A scanner follows one JSON value, byte by byte. It mends what models often get
// wrong: control characters in strings, and commas before closing brackets. The
// zero value is ready.
type scanner struct {
	stack []byte // open brackets
	state scanState
	key   bool   // the string is a key
	word  []byte // a number, or true, false, null
	held  []byte // a comma with the spaces after it
	hex   int    // digits of an escape that are missing
	done  bool
}

type scanState int

const (
	wantValue scanState = iota
	wantKey
	wantColon
	wantNext // comma, or closing bracket
	inString
	inEscape
	inHex
	inWord
)

// maxDepth is the most brackets that are open at once.
const maxDepth = 200

// step takes the next byte, and appends what it stands for. It returns false if
// the value is no JSON. A value that is neither an object, an array nor a string
// has no end of its own: step never finds it done.
func (s *scanner) step(out []byte, c byte) ([]byte, bool) {
	switch s.state {
	case inString:
		return s.stringByte(out, c), true
	case inEscape:
		switch {
		case c == 'u':
			s.state, s.hex = inHex, 4
		case strings.IndexByte(`"\/bfnrt`, c) >= 0:
			s.state = inString
		default:
			return out, false
		}
		return append(out, c), true
	case inHex:
		if strings.IndexByte("0123456789abcdefABCDEF", c) < 0 {
			return out, false
		}
		if s.hex--; s.hex == 0 {
			s.state = inString
		}
		return append(out, c), true
	case inWord:
		if isWordByte(c) {
			s.word = append(s.word, c)
			return append(out, c), len(s.word) < 1<<10
		}
		if !json.Valid(s.word) {
			return out, false
		}
		s.word, s.state = s.word[:0], wantNext
	}
	return s.structure(out, c)
}

func (s *scanner) stringByte(out []byte, c byte) []byte {
	switch {
	case c == '"':
		s.state = wantNext
		if s.key {
			s.state, s.key = wantColon, false
		}
		s.done = len(s.stack) == 0
	case c == '\\':
		s.state = inEscape
	case c == '\n':
		return append(out, `\n`...)
	case c < ' ':
		return fmt.Appendf(out, `\u%04x`, c)
	}
	return append(out, c)
}

// structure takes a byte between strings and words.
func (s *scanner) structure(out []byte, c byte) ([]byte, bool) {
	if isSpace(c) {
		if len(s.held) > 0 {
			s.held = append(s.held, c)
			return out, len(s.held) < 1<<10
		}
		return append(out, c), true
	}
	if closes := c == '}' || c == ']'; closes {
		return s.close(out, c)
	}
	out, s.held = append(out, s.held...), s.held[:0]
	switch {
	case s.state == wantColon && c == ':':
		s.state = wantValue
	case s.state == wantNext && c == ',' && len(s.stack) > 0:
		s.state = wantValue
		if s.top() == '{' {
			s.state = wantKey
		}
		s.held = append(s.held, c)
		return out, true
	case s.state == wantKey && c == '"':
		s.state, s.key = inString, true
	case s.state != wantValue:
		return out, false
	case c == '"':
		s.state = inString
	case c == '{', c == '[':
		s.stack = append(s.stack, c)
		if c == '{' {
			s.state = wantKey
		}
		return append(out, c), len(s.stack) <= maxDepth
	case isWordByte(c):
		s.state, s.word = inWord, append(s.word[:0], c)
	default:
		return out, false
	}
	return append(out, c), true
}

func (s *scanner) close(out []byte, c byte) ([]byte, bool) {
	open := s.top()
	ends := s.state == wantNext ||
		open == '{' && s.state == wantKey ||
		open == '[' && s.state == wantValue
	if !ends || c != open+2 { // ] and } come two after [ and {
		return out, false
	}
	s.held = s.held[:0]
	s.stack = s.stack[:len(s.stack)-1]
	s.state, s.done = wantNext, len(s.stack) == 0
	return append(out, c), true
}

// top returns the innermost open bracket, or 0.
func (s *scanner) top() byte {
	if len(s.stack) == 0 {
		return 0
	}
	return s.stack[len(s.stack)-1]
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}
