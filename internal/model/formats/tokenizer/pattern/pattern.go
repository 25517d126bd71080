// Package pattern finds the places where the rules of a Hugging Face tokenizer
// split or replace text.
package pattern

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/gorizond/koldun/internal/fault"
)

// A Match is a range of bytes of a text. It is not empty.
type Match struct{ Start, End int }

// A Pattern returns its matches in a text, in order and without overlaps. It is
// safe for concurrent use.
type Pattern interface{ Find(text string) []Match }

// maxSource bounds the source of a pattern in bytes.
const maxSource = 1 << 14

// Parse parses a pattern as tokenizer.json writes it: {"String": text} or
// {"Regex": expression}. The error is Unsupported or Invalid.
func Parse(raw json.RawMessage) (Pattern, error) {
	var in struct {
		String *string
		Regex  *string
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fault.Errorf(fault.Invalid, "pattern: %w", err)
	}
	switch {
	case in.Regex != nil && in.String == nil:
		return Regex(*in.Regex)
	case in.String != nil && in.Regex == nil && *in.String != "" && len(*in.String) <= maxSource:
		return Text(*in.String), nil
	}
	return nil, fault.Errorf(fault.Invalid, "pattern %s is neither a text nor a regular expression", abridged(string(raw)))
}

func abridged(s string) string {
	const most = 200
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// Text matches itself. It must not be empty.
type Text string

// Find returns the places of the text.
func (p Text) Find(text string) []Match {
	var out []Match
	for at := 0; ; {
		i := strings.Index(text[at:], string(p))
		if i < 0 {
			return out
		}
		out = append(out, Match{at + i, at + i + len(p)})
		at += i + len(p)
	}
}

// Rune matches each character for which it is true.
type Rune func(rune) bool

// Find returns the characters that match.
func (p Rune) Find(text string) []Match {
	var out []Match
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if p(r) {
			out = append(out, Match{at, at + size})
		}
		at += size
	}
	return out
}
