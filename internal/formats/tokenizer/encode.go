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

// Encode returns the tokens of text. It recognises special tokens that are
// written in the text. With bos, the result begins with the BOS token.
//
// The error is Invalid if no token holds some byte of the text. The cost is
// O(n log n) in the length of the text.
func (t *Tokenizer) Encode(text string, bos bool) ([]int, error) {
	if len(text) > maxText {
		return nil, fault.Errorf(fault.Invalid, "cannot encode text: it has %d bytes, want at most %d", len(text), maxText)
	}
	m := merger{symbols: make([]symbol, 0, len(text)+1)}
	if bos {
		first := t.file.Tokens[t.file.BOS].Text
		text = first + text
		m.add(t.file.BOS, 0, len(first))
	}
	start, at := 0, 0
	if bos {
		at = int(m.symbols[0].end)
		start = at
	}
	for at < len(text) {
		if id, ok := t.specialAt(text[at:]); ok && start == at {
			end := at + len(t.file.Tokens[id].Text)
			m.add(id, at, end)
			start, at = end, end
			continue
		}
		at++
		if id, ok := t.ordinal[text[start:at]]; ok {
			m.add(id, start, at)
			start = at
			continue
		}
		if at-start >= t.longest {
			break
		}
	}
	if start < len(text) {
		return nil, fault.Errorf(fault.Invalid, "cannot encode text: no token holds the bytes at %d", start)
	}
	return m.merge(t, text), nil
}

// specialAt returns the special token with the lowest id that text begins with.
func (t *Tokenizer) specialAt(text string) (int, bool) {
	for _, id := range t.special[text[0]] {
		if strings.HasPrefix(text, t.file.Tokens[id].Text) {
			return id, true
		}
	}
	return 0, false
}
