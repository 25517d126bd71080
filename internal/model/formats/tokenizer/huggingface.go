package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gorizond/koldun/internal/fault"
)

// Files holds the tokenizer files of a Hugging Face repository. A missing file
// is nil.
type Files struct {
	Config           []byte // config.json
	GenerationConfig []byte // generation_config.json
	TokenizerConfig  []byte // tokenizer_config.json
	TokenizerJSON    []byte // tokenizer.json
	SentencePiece    []byte // tokenizer.model
	AddedTokens      []byte // added_tokens.json
	ChatTemplate     []byte // chat_template.jinja
}

// FromHuggingFace converts a repository's tokenizer to a .t file. The result
// has the same bytes as that of distributed-llama's converter for every
// tokenizer that both read in the same way as transformers.
//
// It follows transformers where that converter does not: chat_template.jinja comes before
// the template of tokenizer_config.json (of named ones it takes "default"), any class of
// tokenizer is read whose tokenizer.json is a BPE, tokens are added from every file that
// lists some, and the end tokens are those of config.json, generation_config.json and
// tokenizer_config.json. Whether a text begins with BOS follows from add_bos_token, or
// else from the class and the post-processor. The error is Invalid, Unsupported or NotFound
// and names file and field.
func FromHuggingFace(in Files) (File, error) {
	f, err := fromHuggingFace(in)
	if err != nil {
		return File{}, fmt.Errorf("cannot convert tokenizer: %w", err)
	}
	return f, nil
}

func fromHuggingFace(in Files) (File, error) {
	tc, err := in.config()
	if err != nil {
		return File{}, err
	}
	extra, err := in.extra(tc)
	if err != nil {
		return File{}, err
	}
	var f File
	if tc.sentencePiece(in) {
		f, err = fromSentencePiece(in.SentencePiece)
	} else if in.TokenizerJSON == nil {
		return File{}, fault.Errorf(fault.NotFound, "there is no tokenizer.json or tokenizer.model")
	} else {
		f.Tokens, err = fromTokenizerJSON(in.TokenizerJSON)
	}
	if err != nil {
		return File{}, err
	}
	if err := f.addTokens(extra); err != nil {
		return File{}, err
	}
	if err := f.readEnds(in, tc); err != nil {
		return File{}, err
	}
	if err := f.fit(in); err != nil {
		return File{}, err
	}
	if f.ChatTemplate, err = tc.template(in.ChatTemplate); err != nil {
		return File{}, fmt.Errorf("tokenizer_config.json: %w", err)
	}
	if err := f.Validate(); err != nil { // before BOS is used as an index
		return File{}, err
	}
	f.AddBOS = truthy(tc.AddBOS, tc.beginsText(in, f))
	return f, nil
}

type tokenizerConfig struct {
	Class        string                `json:"tokenizer_class"`
	ChatTemplate json.RawMessage       `json:"chat_template"`
	AddBOS       json.RawMessage       `json:"add_bos_token"`
	BOS          tokenText             `json:"bos_token"`
	EOS          tokenText             `json:"eos_token"`
	Added        map[string]addedToken `json:"added_tokens_decoder"` // by id
}

// A tokenText is a token in tokenizer_config.json: a text, or an object with it.
type tokenText string

// UnmarshalJSON takes anything else as no token, as null is.
func (t *tokenText) UnmarshalJSON(raw []byte) error {
	var text string
	var object struct {
		Content string `json:"content"`
	}
	if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &object) == nil {
		text = object.Content
	}
	*t = tokenText(text)
	return nil
}

func (in Files) config() (tokenizerConfig, error) {
	var tc tokenizerConfig
	if in.TokenizerConfig == nil {
		return tc, fault.Errorf(fault.NotFound, "there is no tokenizer_config.json")
	}
	if err := json.Unmarshal(in.TokenizerConfig, &tc); err != nil {
		return tc, fault.Errorf(fault.Invalid, "tokenizer_config.json: %w", err)
	}
	return tc, nil
}

// sentencePiece reports whether the vocabulary is that in tokenizer.model: of the slow
// LlamaTokenizer, as distributed-llama's converter reads it, or where no other is.
func (c tokenizerConfig) sentencePiece(in Files) bool {
	return in.SentencePiece != nil && (c.Class == "LlamaTokenizer" || in.TokenizerJSON == nil)
}

func (c tokenizerConfig) template(jinja []byte) (string, error) {
	raw := bytes.TrimSpace(c.ChatTemplate)
	if jinja != nil || len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return string(jinja), nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one, nil
	}
	var named []struct{ Name, Template string }
	if err := json.Unmarshal(raw, &named); err != nil {
		return "", fault.Errorf(fault.Unsupported, "chat_template is neither a text nor a list of named templates")
	}
	for _, n := range named {
		if n.Name == "default" {
			return n.Template, nil
		}
	}
	return "", fault.Errorf(fault.Unsupported, "chat_template lists %d templates, none is named \"default\"", len(named))
}

// truthy returns the truth of a JSON value in Python, or absent if it is
// missing.
func truthy(raw json.RawMessage, absent bool) bool {
	if len(raw) == 0 {
		return absent
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return absent
	}
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return false
}
