package tokenizer

import (
	"encoding/json"
	"math"
	"unicode/utf8"

	"github.com/gorizond/koldun/internal/fault"
)

type tokenizerJSON struct {
	Model struct {
		Type  string          `json:"type"`
		Vocab json.RawMessage `json:"vocab"`
	} `json:"model"`
	Added []addedToken `json:"added_tokens"`
}

// fromTokenizerJSON reads the vocabulary of tokenizer.json. The score of a token is -id, so
// that the order of merges by score is the order by rank.
func fromTokenizerJSON(raw []byte) ([]Token, error) {
	var in tokenizerJSON
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fault.Errorf(fault.Invalid, "tokenizer.json: %w", err)
	}
	if in.Model.Type != "" && in.Model.Type != "BPE" {
		return nil, fault.Errorf(fault.Unsupported, "tokenizer.json: model.type is %q, want BPE", in.Model.Type)
	}
	var ids map[string]int
	if err := json.Unmarshal(in.Model.Vocab, &ids); err != nil {
		return nil, fault.Errorf(fault.Invalid, "tokenizer.json: model.vocab: %w", err)
	}
	for i, a := range in.Added {
		if a.ID == nil {
			return nil, fault.Errorf(fault.Invalid, "tokenizer.json: added_tokens[%d] %q has no id", i, a.Content)
		}
		if id, known := ids[a.Content]; known && id != *a.ID {
			return nil, fault.Errorf(fault.Invalid, "tokenizer.json: token %q has id %d in model.vocab and %d in added_tokens", a.Content, id, *a.ID)
		}
		if ids == nil {
			ids = map[string]int{}
		}
		ids[a.Content] = *a.ID
	}
	return inOrder(ids)
}

// inOrder returns the tokens ordered by id. The ids must be 0 to n-1.
func inOrder(ids map[string]int) ([]Token, error) {
	if len(ids) == 0 {
		return nil, fault.Errorf(fault.Invalid, "tokenizer.json: there are no tokens")
	}
	tokens := make([]Token, len(ids))
	holder := make([]string, len(ids))
	for text, id := range ids {
		if id < 0 || id >= len(ids) {
			return nil, fault.Errorf(fault.Invalid, "tokenizer.json: token %q has id %d, want 0 to %d: there are %d tokens", text, id, len(ids)-1, len(ids))
		}
		if tokens[id].Text != "" {
			return nil, fault.Errorf(fault.Invalid, "tokenizer.json: tokens %q and %q both have id %d", min(holder[id], text), max(holder[id], text), id)
		}
		if text == "" {
			return nil, fault.Errorf(fault.Invalid, "tokenizer.json: token %d is empty", id)
		}
		holder[id] = text
		tokens[id] = Token{Text: fromByteLevel(text), Score: -float32(id)}
	}
	// The converter negates the id as a float: the score of id 0 is -0.
	tokens[0].Score = float32(math.Copysign(0, -1))
	return tokens, nil
}

// fromByteLevel replaces the characters that represent bytes in GPT-2's
// byte-level BPE by those bytes. It keeps other characters.
func fromByteLevel(s string) string {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if c, ok := byteOf(r); ok {
			b = append(b, c)
			continue
		}
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

// byteOf is the inverse of GPT-2's bytes_to_unicode: printable characters of
// Latin-1 represent themselves; U+0100 onwards represent the other bytes in
// ascending order: 0 to 32, 127 to 160, 173.
func byteOf(r rune) (byte, bool) {
	switch {
	case r >= '!' && r <= '~', r >= 0xa1 && r <= 0xac, r >= 0xae && r <= 0xff:
		return byte(r), true
	case r >= 0x100 && r < 0x100+33:
		return byte(r - 0x100), true
	case r >= 0x100+33 && r < 0x100+33+34:
		return byte(r - 0x100 - 33 + 127), true
	case r == 0x100+33+34:
		return 173, true
	}
	return 0, false
}
