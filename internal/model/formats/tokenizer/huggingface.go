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
	Config          []byte // config.json
	TokenizerConfig []byte // tokenizer_config.json
	TokenizerJSON   []byte // tokenizer.json
	SentencePiece   []byte // tokenizer.model
	ChatTemplate    []byte // chat_template.jinja
}

// FromHuggingFace converts a repository's tokenizer to a .t file. The result
// has the same bytes as that of distributed-llama's converter for every
// tokenizer that both support.
//
// It supports more than that converter: some more classes, LlamaTokenizer
// without a tokenizer.model, a list of named chat templates (it takes the one
// named "default"), and chat_template.jinja if tokenizer_config.json has no
// template. The error is Invalid, Unsupported or NotFound and names file and
// field.
func FromHuggingFace(in Files) (File, error) {
	if in.TokenizerConfig == nil {
		return File{}, fault.Errorf(fault.NotFound, "cannot convert tokenizer: there is no tokenizer_config.json")
	}
	var tc tokenizerConfig
	if err := json.Unmarshal(in.TokenizerConfig, &tc); err != nil {
		return File{}, fault.Errorf(fault.Invalid, "cannot convert tokenizer: tokenizer_config.json: %w", err)
	}
	f, err := vocabulary(tc.Class, in)
	if err != nil {
		return File{}, fmt.Errorf("cannot convert tokenizer: %w", err)
	}
	if f.ChatTemplate, err = tc.template(in.ChatTemplate); err != nil {
		return File{}, fmt.Errorf("cannot convert tokenizer: tokenizer_config.json: %w", err)
	}
	f.AddBOS = truthy(tc.AddBOS, true)
	if err := f.Validate(); err != nil {
		return File{}, fmt.Errorf("cannot convert tokenizer: %w", err)
	}
	return f, nil
}

func vocabulary(class string, in Files) (File, error) {
	switch class {
	case "LlamaTokenizer":
		if in.SentencePiece != nil {
			return fromSentencePiece(in.SentencePiece)
		}
	case "PreTrainedTokenizerFast", "PreTrainedTokenizer", "LlamaTokenizerFast", "Qwen2Tokenizer", "Qwen2TokenizerFast", "TokenizersBackend":
	default:
		return File{}, fault.Errorf(fault.Unsupported, "tokenizer_config.json: tokenizer_class is %q, want LlamaTokenizer, LlamaTokenizerFast, PreTrainedTokenizer, PreTrainedTokenizerFast, Qwen2Tokenizer, Qwen2TokenizerFast or TokenizersBackend", class)
	}
	if in.TokenizerJSON == nil {
		missing := "tokenizer.json"
		if class == "LlamaTokenizer" {
			missing = "tokenizer.model or tokenizer.json"
		}
		return File{}, fault.Errorf(fault.NotFound, "there is no %s, which tokenizer_class %s needs", missing, class)
	}
	return fromTokenizerJSON(in.TokenizerJSON, in.Config)
}

type tokenizerConfig struct {
	Class        string          `json:"tokenizer_class"`
	ChatTemplate json.RawMessage `json:"chat_template"`
	AddBOS       json.RawMessage `json:"add_bos_token"`
}

func (c tokenizerConfig) template(jinja []byte) (string, error) {
	raw := bytes.TrimSpace(c.ChatTemplate)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
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
