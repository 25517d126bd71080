package openai

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// A body is validated once, as a whole. The functions of this file take JSON that
// is known to be valid and return parts of it, without another look at each
// byte: prompts are long, and several objects deep. They take parts one by one, so that
// their caller bounds how many there are before it keeps any.

// members yields keys and values of an object.
func members(raw []byte) iter.Seq2[json.RawMessage, json.RawMessage] {
	return func(yield func(key, value json.RawMessage) bool) {
		var key, value json.RawMessage
		for rest := skipSpace(raw)[1:]; ; {
			if rest = skipSpace(rest); rest[0] == '}' {
				return
			}
			if rest[0] == ',' {
				rest = skipSpace(rest[1:])
			}
			key, rest = cutValue(rest)
			rest = skipSpace(rest)[1:] // the colon
			value, rest = cutValue(skipSpace(rest))
			if !yield(key, value) {
				return
			}
		}
	}
}

// elements yields the values of an array, with their indexes.
func elements(raw []byte) iter.Seq2[int, json.RawMessage] {
	return func(yield func(int, json.RawMessage) bool) {
		var item json.RawMessage
		i := 0
		for rest := skipSpace(raw)[1:]; ; i++ {
			if rest = skipSpace(rest); rest[0] == ']' {
				return
			}
			if rest[0] == ',' {
				rest = skipSpace(rest[1:])
			}
			item, rest = cutValue(rest)
			if !yield(i, item) {
				return
			}
		}
	}
}

// isEmpty reports whether raw is an array or an object with nothing in it.
func isEmpty(raw json.RawMessage) bool {
	raw = skipSpace(raw)
	if len(raw) == 0 || raw[0] != '[' && raw[0] != '{' {
		return false
	}
	inner := skipSpace(raw[1:])
	return inner[0] == ']' || inner[0] == '}'
}

// unquote reads a string; ok is false if raw is another type.
func unquote(raw []byte) (s string, ok bool) {
	raw = bytes.Trim(raw, space)
	if raw[0] != '"' {
		return "", false
	}
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), true
	}
	return s, json.Unmarshal(raw, &s) == nil
}

const space = " \t\r\n"

func skipSpace(b []byte) []byte { return bytes.TrimLeft(b, space) }

// cutValue splits b after the value that it begins with.
func cutValue(b []byte) (value json.RawMessage, rest []byte) {
	n := valueSize(b)
	return b[:n:n], b[n:]
}

func valueSize(b []byte) int {
	switch b[0] {
	case '"':
		return stringSize(b)
	case '{', '[':
		depth := 0
		for i := 0; ; i++ {
			switch b[i] {
			case '"':
				i += stringSize(b[i:]) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	if n := bytes.IndexAny(b, ",]}"+space); n >= 0 {
		return n
	}
	return len(b)
}

// stringSize returns the size of the string that b begins with, with its quotes.
func stringSize(b []byte) int {
	for i := 1; ; i++ {
		i += bytes.IndexByte(b[i:], '"')
		escapes := i
		for b[escapes-1] == '\\' {
			escapes--
		}
		if (i-escapes)%2 == 0 {
			return i + 1
		}
	}
}
