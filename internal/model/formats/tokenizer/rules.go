package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/gorizond/koldun/internal/fault"
)

// Rules hold what a .t file lacks to encode text exactly as the model's own
// tokenizer does. They are a JSON file beside the .t file, from which they take
// tokens and scores; distributed-llama does not read it.
type Rules struct {
	Version int `json:"version"` // 1
	Tokens  int `json:"tokens"`  // number of tokens in the .t file

	// Model says how the tokens of a word are found: "merges" joins neighbours
	// in the order of Merges, "scores" joins those whose common text is the
	// token with the highest score.
	Model Model `json:"model"`
	// Merges lists pairs of ids of tokens to join, first come first: left and
	// right of the first merge, left and right of the second one.
	Merges []int32 `json:"merges,omitempty"`
	// IgnoreMerges takes a word that is a token as that token.
	IgnoreMerges bool `json:"ignoreMerges,omitempty"`
	// ByteTokens are the ids of the tokens for the bytes 0 to 255, which
	// represent characters that are no token; none if empty.
	ByteTokens []int32 `json:"byteTokens,omitempty"`
	// Unknown represents characters that are no token, unless ByteTokens do.
	Unknown *int32 `json:"unknown,omitempty"`
	// FuseUnknown represents several such characters by one token.
	FuseUnknown bool `json:"fuseUnknown,omitempty"`

	// Normalizer and PreTokenizer are those of tokenizer.json, in its form.
	Normalizer   json.RawMessage `json:"normalizer,omitempty"`
	PreTokenizer json.RawMessage `json:"preTokenizer,omitempty"`

	// Spaces says that the sign ▁ represents a space in texts of tokens.
	Spaces bool `json:"spaces,omitempty"`
	// Texts are the texts of tokens, by id, that differ from those in the .t
	// file: its format keeps only bytes.
	Texts map[int32]string `json:"texts,omitempty"`
	// Added tokens are found in a text before anything else.
	Added []AddedToken `json:"added,omitempty"`
}

// An AddedToken is a token that is found as a whole.
type AddedToken struct {
	ID   int32  `json:"id"`
	Text string `json:"text,omitempty"` // "" if it is that of the .t file
	// Control tokens steer the model. Only the template of a prompt can hold
	// one; text of a client that looks like one is encoded as text.
	Control    bool `json:"control,omitempty"`
	Normalized bool `json:"normalized,omitempty"` // it is found after the normalizer, not before
	// Find is what is found in a text, if that is not Text.
	Find       string `json:"find,omitempty"`
	SingleWord bool   `json:"singleWord,omitempty"` // not within words
	TrimLeft   bool   `json:"trimLeft,omitempty"`   // with the spaces before it
	TrimRight  bool   `json:"trimRight,omitempty"`  // with the spaces after it
}

// A Model is a way to find the tokens of a word.
type Model string

// The models.
const (
	Merges Model = "merges"
	Scores Model = "scores"
)

// rulesVersion is the version of the format.
const rulesVersion = 1

// MaxRules is the largest file of rules that ReadRules reads, in bytes.
const MaxRules = 1 << 26

// Encode returns the bytes of the file.
func (r *Rules) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot write rules of tokenizer: %w", err)
	}
	if b.Len() > MaxRules {
		return nil, fault.Errorf(fault.Unsupported, "cannot write rules of tokenizer: they have %d bytes, want at most %d", b.Len(), MaxRules)
	}
	return b.Bytes(), nil
}

// ReadRules reads rules. The error is Corrupt or Unsupported. New checks that
// they fit to a file.
func ReadRules(r io.Reader) (*Rules, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxRules+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read rules of tokenizer: %w", err)
	}
	if len(raw) > MaxRules {
		return nil, fault.Errorf(fault.Corrupt, "cannot read rules of tokenizer: the file has more than %d bytes", MaxRules)
	}
	var out Rules
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		return nil, fault.Errorf(fault.Corrupt, "cannot read rules of tokenizer: at byte %d: %w", d.InputOffset(), err)
	}
	if out.Version != rulesVersion {
		return nil, fault.Errorf(fault.Unsupported, "cannot read rules of tokenizer: version is %d, want %d", out.Version, rulesVersion)
	}
	return &out, nil
}

// validate checks that the rules fit to a vocabulary of n tokens. The error is
// Invalid.
func (r *Rules) validate(n int) error {
	known := func(what string, id int32) error {
		if id < 0 || int(id) >= n {
			return fault.Errorf(fault.Invalid, "%s has id %d, the vocabulary has %d tokens", what, id, n)
		}
		return nil
	}
	if r.Tokens != n {
		return fault.Errorf(fault.Invalid, "they are for %d tokens, the vocabulary has %d: they belong to another tokenizer", r.Tokens, n)
	}
	if n := len(r.Normalizer) + len(r.PreTokenizer); n > maxDefinition {
		return fault.Errorf(fault.Invalid, "normalizer and pre-tokenizer have %d bytes, want at most %d", n, maxDefinition)
	}
	if r.Model != Merges && r.Model != Scores {
		return fault.Errorf(fault.Unsupported, "model is %q, want %q or %q", r.Model, Merges, Scores)
	}
	if len(r.Merges)%2 != 0 {
		return fault.Errorf(fault.Invalid, "merges have %d ids, want pairs", len(r.Merges))
	}
	if len(r.Merges)/2 > maxMerges {
		return fault.Errorf(fault.Invalid, "there are %d merges, want at most %d", len(r.Merges)/2, maxMerges)
	}
	for _, id := range r.Merges {
		if err := known("a merge", id); err != nil {
			return err
		}
	}
	if len(r.ByteTokens) != 0 && len(r.ByteTokens) != 256 {
		return fault.Errorf(fault.Invalid, "there are %d byte tokens, want 256", len(r.ByteTokens))
	}
	for _, id := range r.ByteTokens {
		if err := known("a byte token", id); err != nil {
			return err
		}
	}
	for id, text := range r.Texts {
		if err := known("a text", id); err != nil {
			return err
		}
		if text == "" || len(text) > maxToken {
			return fault.Errorf(fault.Invalid, "token %d has %d bytes, want 1 to %d", id, len(text), maxToken)
		}
	}
	for _, a := range r.Added {
		if err := known("an added token", a.ID); err != nil {
			return err
		}
		if longer := max(len(a.Text), len(a.Find)); longer > maxToken {
			return fault.Errorf(fault.Invalid, "added token %d has %d bytes, want at most %d", a.ID, longer, maxToken)
		}
	}
	if r.Unknown != nil {
		return known("the unknown token", *r.Unknown)
	}
	return nil
}

// maxDefinition bounds normalizer and pre-tokenizer in bytes, because classes of
// characters need much more memory than their names.
const maxDefinition = 1 << 16

// maxMerges is the number of merges whose ranks a float32 tells apart.
const maxMerges = 1 << 24
