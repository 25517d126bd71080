// Package normal applies the normalizers of Hugging Face tokenizers.
package normal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer/pattern"
)

// A Text is a string of which some bytes are marked. Marks is nil if none are,
// and else as long as the string.
type Text struct {
	String string
	Marks  []bool
}

// Cut returns the bytes from start to end.
func (t Text) Cut(start, end int) Text {
	out := Text{String: t.String[start:end]}
	if t.Marks != nil {
		out.Marks = t.Marks[start:end]
	}
	return out
}

// marked reports whether a byte from start to end is marked.
func (t Text) marked(start, end int) bool { return t.Cut(start, end).Marked() }

// Marked reports whether a byte is marked.
func (t Text) Marked() bool { return slices.Contains(t.Marks, true) }

// A builder joins texts.
type builder struct {
	text   strings.Builder
	marks  []bool
	marked bool // whether the source of the text has marks
}

func (b *builder) add(s string, mark bool) {
	b.text.WriteString(s)
	if b.marked {
		for range len(s) {
			b.marks = append(b.marks, mark)
		}
	}
}

func (b *builder) addText(t Text) {
	b.text.WriteString(t.String)
	if b.marked {
		b.marks = append(b.marks, t.Marks...)
	}
}

func (b *builder) done() Text { return Text{b.text.String(), b.marks} }

// A Normalizer changes a text. The bytes that it computes from marked ones are
// marked. It is safe for concurrent use.
type Normalizer interface {
	Normalize(t Text) Text
	// Growth is how many times as long as a text its result can be.
	Growth() float64
}

// maxNested bounds how deep sequences can be nested.
const maxNested = 8

// Parse parses a normalizer as tokenizer.json writes it; null is none. The error
// is Unsupported or Invalid and names the normalizer.
func Parse(raw json.RawMessage) (Normalizer, error) { return parse(raw, 0) }

func parse(raw json.RawMessage, depth int) (Normalizer, error) {
	if depth > maxNested {
		return nil, fault.Errorf(fault.Unsupported, "normalizers are nested more than %d deep", maxNested)
	}
	if len(raw) == 0 || string(raw) == "null" {
		return sequence{}, nil
	}
	var in struct {
		Type        string
		Normalizers []json.RawMessage
		Prepend     string
		Pattern     json.RawMessage
		Content     string
		Left        bool `json:"strip_left"`
		Right       bool `json:"strip_right"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fault.Errorf(fault.Invalid, "normalizer: %w", err)
	}
	switch in.Type {
	case "Sequence":
		var s sequence
		for _, r := range in.Normalizers {
			n, err := parse(r, depth+1)
			if err != nil {
				return nil, err
			}
			s = append(s, n)
		}
		return s, nil
	case "NFC":
		return form(norm.NFC), nil
	case "NFD":
		return form(norm.NFD), nil
	case "NFKC":
		return form(norm.NFKC), nil
	case "NFKD":
		return form(norm.NFKD), nil
	case "Prepend":
		return prepend(in.Prepend), nil
	case "Strip":
		return strip{in.Left, in.Right}, nil
	case "Replace":
		p, err := pattern.Parse(in.Pattern)
		if err != nil {
			return nil, fmt.Errorf("normalizer Replace: %w", err)
		}
		return replace{p, in.Content}, nil
	}
	return nil, fault.Errorf(fault.Unsupported, "normalizer %q is not supported", in.Type)
}

type sequence []Normalizer

func (s sequence) Normalize(t Text) Text {
	for _, n := range s {
		t = n.Normalize(t)
	}
	return t
}

func (s sequence) Growth() float64 {
	g := 1.0
	for _, n := range s {
		g *= n.Growth()
	}
	return g
}

// form is a normal form of Unicode.
type form norm.Form

func (f form) Normalize(t Text) Text {
	if norm.Form(f).IsNormalString(t.String) {
		return t
	}
	b := builder{marked: t.Marks != nil}
	var it norm.Iter
	it.InitString(norm.Form(f), t.String)
	for !it.Done() {
		start := it.Pos()
		s := it.Next()
		b.add(string(s), t.marked(start, it.Pos()))
	}
	return b.done()
}

// Growth is the largest of all characters (UAX #15, Detecting Normalization Forms).
func (f form) Growth() float64 {
	if norm.Form(f) == norm.NFKC || norm.Form(f) == norm.NFKD {
		return 11
	}
	return 3
}

// prepend begins every text that is not empty.
type prepend string

func (p prepend) Normalize(t Text) Text {
	if t.String == "" {
		return t
	}
	b := builder{marked: t.Marks != nil}
	b.add(string(p), false)
	b.addText(t)
	return b.done()
}

func (p prepend) Growth() float64 { return float64(1 + len(p)) }

// replace replaces all matches of a pattern.
type replace struct {
	pattern pattern.Pattern
	by      string
}

func (r replace) Normalize(t Text) Text {
	matches := r.pattern.Find(t.String)
	if len(matches) == 0 {
		return t
	}
	b := builder{marked: t.Marks != nil}
	at := 0
	for _, m := range matches {
		b.addText(t.Cut(at, m.Start))
		b.add(r.by, t.marked(m.Start, m.End))
		at = m.End
	}
	b.addText(t.Cut(at, len(t.String)))
	return b.done()
}

func (r replace) Growth() float64 {
	if t, ok := r.pattern.(pattern.Text); ok {
		return max(1, float64(len(r.by))/float64(len(t)))
	}
	return max(1, float64(len(r.by)))
}

// strip cuts spaces from the ends.
type strip struct{ left, right bool }

func (s strip) Normalize(t Text) Text {
	start, end := 0, len(t.String)
	if s.left {
		start = end - len(strings.TrimLeftFunc(t.String, unicode.IsSpace))
	}
	if s.right && start < end {
		end = start + len(strings.TrimRightFunc(t.String[start:], unicode.IsSpace))
	}
	return t.Cut(start, end)
}

func (s strip) Growth() float64 { return 1 }
