package tokenizer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gorizond/koldun/internal/model/formats/tokenizer/normal"
)

// A finder finds added tokens in a text: the leftmost first, of those the
// longest.
type finder struct {
	tokens [256][]added // by first byte
}

type added struct {
	AddedToken
	text string
}

func (f *finder) add(a AddedToken, text string) {
	f.tokens[text[0]] = append(f.tokens[text[0]], added{a, text})
}

// sort puts the longest tokens first.
func (f *finder) sort() {
	for _, list := range f.tokens {
		slices.SortStableFunc(list, func(a, b added) int { return len(b.text) - len(a.text) })
	}
}

// A section is an added token, or the text between two of them.
type section struct {
	id    int32 // of the token, or -1
	text  normal.Text
	first bool // it begins the text
}

// find splits a text at added tokens. Marked text has no control tokens.
func (f *finder) find(t normal.Text) []section {
	if t.String == "" {
		return nil
	}
	var out []section
	done := 0 // the end of the last section
	between := func(end int) {
		if done < end {
			out = append(out, section{-1, t.Cut(done, end), done == 0})
		}
	}
	for at := 0; at < len(t.String); {
		a, ok := f.at(t, at)
		if !ok {
			at++
			continue
		}
		start, end := at, at+len(a.text)
		at = end
		if a.SingleWord && (endsInWord(t.String[:start]) || beginsWithWord(t.String[end:])) {
			continue
		}
		if a.TrimLeft {
			start = max(len(strings.TrimRightFunc(t.String[:start], unicode.IsSpace)), done)
		}
		if a.TrimRight {
			end = len(t.String) - len(strings.TrimLeftFunc(t.String[end:], unicode.IsSpace))
		}
		between(start)
		out = append(out, section{id: a.ID})
		at, done = end, end
	}
	between(len(t.String))
	return out
}

// at returns the longest token that begins at a byte.
func (f *finder) at(t normal.Text, at int) (added, bool) {
	rest := t.String[at:]
	for _, a := range f.tokens[rest[0]] {
		if strings.HasPrefix(rest, a.text) && (!a.Control || !t.Cut(at, at+len(a.text)).Marked()) {
			return a, true
		}
	}
	return added{}, false
}

func endsInWord(s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	return size > 0 && isWord(r)
}

func beginsWithWord(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size > 0 && isWord(r)
}

// isWord is \w of Unicode (UTS #18, Annex C).
func isWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}
