package tokenizer

import (
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// A Tokenizer converts text to tokens and back. It is safe for concurrent use.
//
// It works like distributed-llama's: ids below BOS are ordinary tokens, ids
// from BOS on are special tokens. It does not split text into words first, so
// that its tokens can differ from those of the model's original tokenizer where
// a merge crosses words.
type Tokenizer struct {
	file    File
	ordinal map[string]int // text of an ordinary token -> id; the lowest id wins
	special [256][]int     // ids of special tokens by their first byte, ascending
	longest int            // bytes of the longest ordinary token
	eos     map[int]bool
}

// New returns the Tokenizer of a file. The error is Invalid.
func New(f File) (*Tokenizer, error) {
	if err := f.Validate(); err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot use tokenizer: %w", err)
	}
	t := &Tokenizer{file: f, ordinal: make(map[string]int, f.BOS), eos: map[int]bool{}}
	for id, tok := range f.Tokens {
		if id >= f.BOS {
			t.special[tok.Text[0]] = append(t.special[tok.Text[0]], id)
			continue
		}
		if _, taken := t.ordinal[tok.Text]; !taken {
			t.ordinal[tok.Text] = id
			t.longest = max(t.longest, len(tok.Text))
		}
	}
	for _, id := range f.EOS {
		t.eos[id] = true
	}
	return t, nil
}

// File returns the file of the Tokenizer. The caller must not change it.
func (t *Tokenizer) File() File { return t.file }

// IsEOS reports whether a token ends an answer.
func (t *Tokenizer) IsEOS(id int) bool { return t.eos[id] }

// maxText is the longest text that Encode accepts, in bytes.
const maxText = 1 << 28

// A Part is a piece of a text to encode.
type Part struct {
	Text  string
	Plain bool // it has no special tokens: what looks like one is text
}

// Encode returns the tokens of text. It recognises special tokens that are
// written in the text. With bos, the result begins with the BOS token.
//
// The error is Invalid if no token holds some byte of the text. The cost is
// O(n log n) in the length of the text.
func (t *Tokenizer) Encode(text string, bos bool) ([]int, error) {
	parts := []Part{{Text: text}}
	if bos {
		parts = []Part{{Text: t.file.Tokens[t.file.BOS].Text}, {Text: text}}
	}
	return t.EncodeParts(parts)
}

// EncodeParts encodes the joined text of parts as Encode does, and takes a
// special token only where it lies in one part that is not plain. Ordinary
// tokens cross parts.
func (t *Tokenizer) EncodeParts(parts []Part) ([]int, error) {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	text := b.String()
	if len(text) > maxText {
		return nil, fault.Errorf(fault.Invalid, "cannot encode text: it has %d bytes, want at most %d", len(text), maxText)
	}
	m := merger{symbols: make([]symbol, 0, len(text))}
	part, end := -1, 0 // the part that holds text[at], and where it ends
	for start, at := 0, 0; at < len(text); {
		for at >= end {
			part++
			end += len(parts[part].Text)
		}
		if start == at {
			if id, ok := t.specialAt(text[at:], end-at, parts[part].Plain); ok {
				at += len(t.file.Tokens[id].Text)
				m.add(id, start, at)
				start = at
				continue
			}
		}
		at++
		if id, ok := t.ordinal[text[start:at]]; ok {
			m.add(id, start, at)
			start = at
		} else if at-start >= t.longest || at == len(text) {
			return nil, fault.Errorf(fault.Invalid, "cannot encode text: no token holds the bytes at %d", start)
		}
	}
	return m.merge(t, text), nil
}

// specialAt returns the special token with the lowest id that text begins with
// and that has at most n bytes. In plain text there are none, but for a
// vocabulary that has BOS so early that most of its tokens count as special:
// there BOS and the end tokens are left out.
func (t *Tokenizer) specialAt(text string, n int, plain bool) (int, bool) {
	few := t.file.BOS < fewOrdinary
	if plain && !few {
		return 0, false
	}
	for _, id := range t.special[text[0]] {
		s := t.file.Tokens[id].Text
		if plain && (id == t.file.BOS || t.eos[id]) || len(s) > n && !few {
			continue
		}
		if strings.HasPrefix(text, s) {
			return id, true
		}
	}
	return 0, false
}

// fewOrdinary is the number of ordinary tokens that a vocabulary of all bytes
// has at least.
const fewOrdinary = 256
