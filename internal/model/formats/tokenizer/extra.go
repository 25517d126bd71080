package tokenizer

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/gorizond/koldun/internal/fault"
)

// An addedToken is a token that is found in texts as a whole, in the form that
// tokenizer.json and tokenizer_config.json share.
type addedToken struct {
	ID         *int   `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// extra returns the tokens that files beside the vocabulary add, by id: those of
// added_tokens_decoder, or else, in older repositories, of added_tokens.json.
func (in Files) extra(tc tokenizerConfig) ([]addedToken, error) {
	var out []addedToken
	for text, a := range tc.Added {
		id, err := strconv.Atoi(text)
		if err != nil {
			return nil, fault.Errorf(fault.Invalid, "tokenizer_config.json: added_tokens_decoder has the id %q", text)
		}
		a.ID = &id
		out = append(out, a)
	}
	if len(out) == 0 && in.AddedTokens != nil {
		var ids map[string]int
		if err := json.Unmarshal(in.AddedTokens, &ids); err != nil {
			return nil, fault.Errorf(fault.Invalid, "added_tokens.json: %w", err)
		}
		for text, id := range ids {
			out = append(out, addedToken{ID: &id, Content: text, Special: true})
		}
	}
	slices.SortFunc(out, func(a, b addedToken) int { return cmp.Or(*a.ID-*b.ID, cmp.Compare(a.Content, b.Content)) })
	return out, nil
}

// addTokens appends tokens that the vocabulary lacks. Their ids must follow it.
func (f *File) addTokens(extra []addedToken) error {
	for _, a := range extra {
		switch id := *a.ID; {
		case a.Content == "":
			return fault.Errorf(fault.Invalid, "added token %d is empty", id)
		case id < 0 || id > len(f.Tokens):
			return fault.Errorf(fault.Invalid, "added token %q has id %d, the vocabulary has %d tokens", a.Content, id, len(f.Tokens))
		case id == len(f.Tokens):
			f.Tokens = append(f.Tokens, Token{Text: a.Content, Score: -float32(id)})
		}
	}
	return nil
}

// fit leaves out what follows the last row of the model's embedding, such as <pad> after a
// training: the model has nothing for it. Nothing but added tokens may be left out.
func (f *File) fit(in Files) error {
	var c struct {
		Rows int `json:"vocab_size"`
	}
	// A tokenizer.model needs no config.json.
	if _ = json.Unmarshal(in.Config, &c); c.Rows <= 0 || len(f.Tokens) <= c.Rows {
		return nil
	}
	var tj struct {
		Added []addedToken `json:"added_tokens"`
	}
	_ = json.Unmarshal(in.TokenizerJSON, &tj) // it was read before
	for id := c.Rows; id < len(f.Tokens); id++ {
		control := slices.ContainsFunc(tj.Added, func(a addedToken) bool { return a.ID != nil && *a.ID == id && a.Special })
		if id == f.BOS || slices.Contains(f.EOS, id) || !control {
			return fault.Errorf(fault.Unsupported, "token %q has id %d, and config.json says that the model has %d tokens: the embedding has no row for it", f.Tokens[id].Text, id, c.Rows)
		}
	}
	f.Tokens = f.Tokens[:c.Rows]
	return nil
}
