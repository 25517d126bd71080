package tokenizer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// A Tokenizer converts text to tokens and back. It is safe for concurrent use.
//
// With rules it works as the model's tokenizer in Hugging Face's library.
// Without, it works like distributed-llama's: ids below BOS are ordinary tokens,
// ids from BOS on are special tokens. It then does not split text into words
// first, so that its tokens can differ from those of the model's original
// tokenizer where a merge crosses words.
type Tokenizer struct {
	file File
	tokenIndex
	special [256][]int // ids of special tokens by their first byte, ascending
	eos     map[int]bool
	rules   *ruled // nil: none
}

// A tokenIndex finds ordinary tokens by their text.
type tokenIndex struct {
	tokens  []Token
	ordinal map[string]int // the lowest id wins
	longest int            // bytes of the longest ordinary token
}

func (v *tokenIndex) add(id int) {
	text := v.tokens[id].Text
	if _, taken := v.ordinal[text]; !taken {
		v.ordinal[text] = id
		v.longest = max(v.longest, len(text))
	}
}

// New returns the Tokenizer of a file and of the rules beside it, which may be
// nil. The error is Invalid or Unsupported.
func New(f File, r *Rules) (*Tokenizer, error) {
	if err := f.Validate(); err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot use tokenizer: %w", err)
	}
	t := &Tokenizer{file: f, eos: map[int]bool{}}
	for _, id := range f.EOS {
		t.eos[id] = true
	}
	if r != nil {
		rules, err := newRuled(f, r)
		if err != nil {
			return nil, fmt.Errorf("cannot use rules of tokenizer: %w", err)
		}
		t.rules, t.file.Tokens = rules, rules.shown
		return t, nil
	}
	t.tokenIndex = tokenIndex{tokens: f.Tokens, ordinal: make(map[string]int, f.BOS)}
	for id, tok := range f.Tokens {
		if id >= f.BOS || t.control(id) {
			t.special[tok.Text[0]] = append(t.special[tok.Text[0]], id)
			continue
		}
		t.add(id)
	}
	return t, nil
}

// control reports whether a token steers the model, as far as a file without
// rules tells.
func (t *Tokenizer) control(id int) bool {
	text := t.file.Tokens[id].Text
	return id == t.file.BOS || t.eos[id] || between(text, "<|", "|>") || between(text, "<｜", "｜>")
}

// IsControl reports whether a token steers the model, so that text alone does not
// stand for it: it is a control token, or the template writes it as a tag.
func (t *Tokenizer) IsControl(id int) bool {
	if t.rules != nil {
		return t.rules.control[id] || t.control(id) || t.inTemplate(id)
	}
	return id >= t.file.BOS && t.file.BOS >= fewOrdinary || t.control(id) || t.inTemplate(id)
}

// inTemplate reports whether the chat template writes a token that looks like a
// tag.
func (t *Tokenizer) inTemplate(id int) bool {
	text := t.file.Tokens[id].Text
	return (between(text, "<", ">") || between(text, "[", "]")) && strings.Contains(t.file.ChatTemplate, text)
}

// between reports whether a text lies between two others.
func between(text, begin, end string) bool {
	return len(text) > len(begin)+len(end) && strings.HasPrefix(text, begin) && strings.HasSuffix(text, end)
}

// File returns the file of the Tokenizer, with the texts that its rules give the
// tokens. The caller must not change it.
func (t *Tokenizer) File() File { return t.file }

// IsEOS reports whether a token ends an answer.
func (t *Tokenizer) IsEOS(id int) bool { return t.eos[id] }

// maxText is the longest text that Encode accepts, in bytes.
const maxText = 1 << 28

// A Part is a piece of a text to encode.
type Part struct {
	Text  string
	Plain bool // it has no special tokens: what looks like one is text
	BOS   bool // it is the BOS token, and Text does not matter
}

// Encode returns the tokens of text. It recognises special tokens that are
// written in the text. With bos, the result begins with the BOS token.
//
// The error is Invalid if no token holds some byte of the text. The cost is
// O(n log n) in the length of the text.
func (t *Tokenizer) Encode(text string, bos bool) ([]int, error) {
	parts := []Part{{Text: text}}
	if bos {
		parts = []Part{{BOS: true}, {Text: text}}
	}
	return t.EncodeParts(parts)
}

// EncodeParts encodes the joined text of parts as Encode does, and takes a
// special token only where it lies in one part that is not plain. Ordinary
// tokens cross parts.
func (t *Tokenizer) EncodeParts(parts []Part) ([]int, error) {
	size := 0
	for _, p := range parts {
		size += len(p.Text)
	}
	if size > maxText {
		return nil, fault.Errorf(fault.Invalid, "cannot encode text: it has %d bytes, want at most %d", size, maxText)
	}
	if t.rules != nil {
		return t.rules.encode(t.file.BOS, parts)
	}
	parts = slices.Clone(parts)
	var b strings.Builder
	for i := range parts {
		if parts[i].BOS {
			parts[i] = Part{Text: t.file.Tokens[t.file.BOS].Text}
		}
		b.WriteString(parts[i].Text)
	}
	text := b.String()
	m := merger{joiner: byText{&t.tokenIndex, text}, symbols: make([]symbol, 0, len(text))}
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
	m.merge()
	ids := make([]int, 0, len(m.symbols))
	for _, s := range m.symbols {
		if !s.gone {
			ids = append(ids, int(s.id))
		}
	}
	return ids, nil
}

// specialAt returns the special token with the lowest id that text begins with
// and that has at most n bytes. In plain text there are none, but for a
// vocabulary that has BOS so early that most of its tokens count as special:
// there those that steer the model are left out.
func (t *Tokenizer) specialAt(text string, n int, plain bool) (int, bool) {
	few := t.file.BOS < fewOrdinary
	if plain && !few {
		return 0, false
	}
	for _, id := range t.special[text[0]] {
		s := t.file.Tokens[id].Text
		if plain && (t.control(id) || t.inTemplate(id)) || len(s) > n && !few {
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
