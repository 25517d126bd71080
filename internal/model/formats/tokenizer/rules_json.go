package tokenizer

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer/normal"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer/split"
)

// RulesFromHuggingFace returns the rules of a repository's tokenizer, for the
// file that FromHuggingFace returns. The error is Unsupported and names what the
// rules cannot express, or Invalid.
func RulesFromHuggingFace(in Files, f File) (*Rules, error) {
	tc, err := in.config()
	if err != nil {
		return nil, err
	}
	r, err := rulesOf(tc, in, f)
	if err != nil {
		return nil, err
	}
	extra, err := in.extra(tc)
	if err != nil {
		return nil, err
	}
	for _, a := range extra {
		if known := slices.ContainsFunc(r.Added, func(k AddedToken) bool { return int(k.ID) == *a.ID }); !known && *a.ID < len(f.Tokens) && f.Tokens[*a.ID].Text == a.Content {
			r.Added = append(r.Added, a.rule(true))
		}
	}
	r.Version, r.Tokens = rulesVersion, len(f.Tokens)
	if _, err := newRuled(f, r); err != nil {
		return nil, err
	}
	return r, nil
}

func rulesOf(tc tokenizerConfig, in Files, f File) (*Rules, error) {
	if tc.sentencePiece(in) {
		return rulesOfSentencePiece(in.SentencePiece)
	}
	var tj rulesJSON
	if err := json.Unmarshal(in.TokenizerJSON, &tj); err != nil {
		return nil, fault.Errorf(fault.Invalid, "tokenizer.json: %w", err)
	}
	return tj.rules(f)
}

// rulesJSON is what rules take from tokenizer.json.
type rulesJSON struct {
	Normalizer   json.RawMessage `json:"normalizer"`
	PreTokenizer json.RawMessage `json:"pre_tokenizer"`
	Model        struct {
		Vocab        map[string]int32  `json:"vocab"`
		Merges       []json.RawMessage `json:"merges"`
		Unknown      *string           `json:"unk_token"`
		FuseUnknown  bool              `json:"fuse_unk"`
		ByteFallback bool              `json:"byte_fallback"`
		IgnoreMerges bool              `json:"ignore_merges"`
		Dropout      *float64          `json:"dropout"`
		Prefix       string            `json:"continuing_subword_prefix"`
		Suffix       string            `json:"end_of_word_suffix"`
	} `json:"model"`
	Added []addedToken `json:"added_tokens"`
}

// rule returns the token as a rule. A token that is no word of the vocabulary is one for
// control.
func (a addedToken) rule(control bool) AddedToken {
	return AddedToken{
		ID: int32(*a.ID), Control: a.Special || control, Normalized: a.Normalized, SingleWord: a.SingleWord, TrimLeft: a.LStrip, TrimRight: a.RStrip,
	}
}

func (in rulesJSON) rules(f File) (*Rules, error) {
	m := in.Model
	if m.Dropout != nil && *m.Dropout > 0 || m.Prefix != "" || m.Suffix != "" {
		return nil, fault.Errorf(fault.Unsupported, "tokenizer.json: the model has a dropout, a continuing_subword_prefix or an end_of_word_suffix")
	}
	_, byteLevel, err := split.Parse(in.PreTokenizer)
	if err != nil {
		return nil, err
	}
	normalizer, err := normal.Parse(in.Normalizer)
	if err != nil {
		return nil, err
	}
	r := &Rules{
		Model: Merges, IgnoreMerges: m.IgnoreMerges, FuseUnknown: m.FuseUnknown,
		Normalizer: in.Normalizer, PreTokenizer: in.PreTokenizer, Texts: map[int32]string{},
	}
	for text, id := range m.Vocab {
		if int(id) >= len(f.Tokens) { // left out
			continue
		}
		r.Spaces = r.Spaces || !byteLevel && strings.Contains(text, space)
		if !byteLevel && text != f.Tokens[id].Text {
			r.Texts[id] = text
		}
	}
	if m.Unknown != nil {
		if id, ok := m.Vocab[*m.Unknown]; ok {
			r.Unknown = &id
		}
	}
	if m.ByteFallback {
		r.ByteTokens = byteTokens(m.Vocab)
	}
	if r.Merges, err = mergesOf(m.Merges, m.Vocab); err != nil {
		return nil, err
	}
	for _, a := range in.Added {
		if *a.ID >= len(f.Tokens) { // left out
			continue
		}
		_, ordinary := m.Vocab[a.Content]
		added := a.rule(!ordinary)
		if a.Content != f.Tokens[*a.ID].Text {
			added.Text = a.Content
		}
		if n := normalizer.Normalize(normal.Text{String: a.Content}).String; a.Normalized && n != a.Content {
			added.Find = n
		}
		r.Added = append(r.Added, added)
	}
	return r, nil
}

// byteTokens returns the ids of <0x00> to <0xFF>, or none if one is missing.
func byteTokens(vocab map[string]int32) []int32 {
	const digits = "0123456789ABCDEF"
	var out []int32
	for b := range 256 {
		id, ok := vocab["<0x"+string(digits[b>>4])+string(digits[b&15])+">"]
		if !ok {
			return nil
		}
		out = append(out, id)
	}
	return out
}

// mergesOf reads merges as tokenizer.json writes them: pairs of texts, in older
// files with a space between them.
func mergesOf(list []json.RawMessage, vocab map[string]int32) ([]int32, error) {
	out := make([]int32, 0, 2*len(list))
	for i, raw := range list {
		var two []string
		if json.Unmarshal(raw, &two) != nil {
			var text string
			if json.Unmarshal(raw, &text) == nil {
				two = strings.Split(text, " ")
			}
		}
		if len(two) != 2 {
			return nil, fault.Errorf(fault.Invalid, "tokenizer.json: model.merges[%d] is not a pair of texts", i)
		}
		for _, text := range two {
			id, ok := vocab[text]
			if !ok {
				return nil, fault.Errorf(fault.Invalid, "tokenizer.json: model.merges[%d] joins %q, which is no token", i, text)
			}
			out = append(out, id)
		}
	}
	return out, nil
}
