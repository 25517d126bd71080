// Package split applies the pre-tokenizers of Hugging Face tokenizers, which
// split a text into the words that the model encodes one by one.
package split

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer/pattern"
)

// A Word is a part of a text. First says that it is the beginning of the whole
// text.
type Word struct {
	Text  string
	First bool
}

// A Splitter splits words into smaller ones, and may change them. It is safe for
// concurrent use.
type Splitter interface {
	Split(words []Word) []Word
	// Growth is how many times as long as a text its words can be.
	Growth() float64
}

// maxNested bounds how deep sequences can be nested.
const maxNested = 8

type definition struct {
	Type          string
	Pretokenizers []json.RawMessage
	Pattern       json.RawMessage
	Behavior      string
	Invert        bool
	Individual    bool  `json:"individual_digits"`
	AddPrefix     *bool `json:"add_prefix_space"`
	UseRegex      *bool `json:"use_regex"`
	Replacement   string
	Prepend       string `json:"prepend_scheme"`
	Split         *bool
}

// Parse parses a pre-tokenizer as tokenizer.json writes it; null is none. It
// reports whether the last step is ByteLevel, after which the bytes of words are
// the symbols of the model, and not their characters. The error is Unsupported
// or Invalid and names the pre-tokenizer.
func Parse(raw json.RawMessage) (s Splitter, byteLevel bool, err error) { return parse(raw, 0) }

func parse(raw json.RawMessage, depth int) (s Splitter, byteLevel bool, err error) {
	if depth > maxNested {
		return nil, false, fault.Errorf(fault.Unsupported, "pre-tokenizers are nested more than %d deep", maxNested)
	}
	if len(raw) == 0 || string(raw) == "null" {
		return sequence{}, false, nil
	}
	var d definition
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, false, fault.Errorf(fault.Invalid, "pre-tokenizer: %w", err)
	}
	switch d.Type {
	case "Sequence":
		return d.sequence(depth)
	case "ByteLevel":
		s, err = d.byteLevel()
		return s, true, err
	}
	s, err = d.simple()
	if err != nil {
		return nil, false, fmt.Errorf("pre-tokenizer %s: %w", d.Type, err)
	}
	return s, false, nil
}

func (d definition) sequence(depth int) (s Splitter, byteLevel bool, err error) {
	var all sequence
	for _, raw := range d.Pretokenizers {
		if byteLevel {
			return nil, false, fault.Errorf(fault.Unsupported, "a pre-tokenizer follows ByteLevel, which must be the last one")
		}
		var next Splitter
		if next, byteLevel, err = parse(raw, depth+1); err != nil {
			return nil, false, err
		}
		all = append(all, next)
	}
	return all, byteLevel, nil
}

func (d definition) simple() (Splitter, error) {
	switch d.Type {
	case "Split":
		p, err := pattern.Parse(d.Pattern)
		if err != nil {
			return nil, err
		}
		return newByPattern(p, d.Behavior, d.Invert)
	case "Digits":
		if d.Individual {
			return newByPattern(pattern.Rune(unicode.IsNumber), isolated, false)
		}
		return newByPattern(pattern.Rune(unicode.IsNumber), contiguous, false)
	case "Punctuation":
		if d.Behavior == "" {
			d.Behavior = isolated
		}
		return newByPattern(pattern.Rune(isPunctuation), d.Behavior, false)
	case "Whitespace":
		p, err := pattern.Regex(`[\w\x{200C}\x{200D}]+|[^\w\s\x{200C}\x{200D}]+`)
		if err != nil {
			return nil, err
		}
		return newByPattern(p, removed, true)
	case "WhitespaceSplit":
		return newByPattern(pattern.Rune(unicode.IsSpace), removed, false)
	case "Metaspace":
		return d.metaspace()
	}
	return nil, fault.Errorf(fault.Unsupported, "it is not supported")
}

// isPunctuation counts all signs of ASCII, as Hugging Face does.
func isPunctuation(r rune) bool {
	return unicode.IsPunct(r) || r < unicode.MaxASCII && strings.ContainsRune("$+<=>^`|~", r)
}

type sequence []Splitter

func (s sequence) Split(words []Word) []Word {
	for _, next := range s {
		words = next.Split(words)
	}
	return words
}

func (s sequence) Growth() float64 {
	g := 1.0
	for _, next := range s {
		g *= next.Growth()
	}
	return g
}
