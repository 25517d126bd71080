package tokenizer

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// readEnds reads which token begins a text and which end an answer. The first end token is
// that of config.json, as distributed-llama's converter has it, or of tokenizer.model.
func (f *File) readEnds(in Files, tc tokenizerConfig) error {
	fromPieces := tc.sentencePiece(in)
	if in.Config == nil && !fromPieces {
		return fault.Errorf(fault.NotFound, "there is no config.json, which names bos and eos")
	}
	config, err := readEndIDs("config.json", in.Config)
	if err != nil {
		return err
	}
	generation, err := readEndIDs("generation_config.json", in.GenerationConfig)
	if err != nil {
		return err
	}
	var named []int
	if id, ok := f.find(string(tc.EOS)); ok {
		named = []int{id}
	}
	if fromPieces {
		f.begin(tc, f.BOS)
		if len(named) == 0 {
			named = f.EOS
		}
		f.EOS = union(named, f.known(config.eos), f.known(generation.eos))
		return nil
	}
	if config.given && len(config.eos) == 0 { // an empty list
		return nil
	}
	if f.EOS = union(config.eos, f.known(generation.eos), named); len(f.EOS) == 0 {
		return fault.Errorf(fault.Invalid, "config.json: eos_token_id is missing, and neither generation_config.json nor tokenizer_config.json names an end token")
	}
	switch {
	case config.bos != nil:
		f.BOS = *config.bos
	case f.begin(tc, -1) >= 0:
	default:
		return fault.Errorf(fault.Invalid, "config.json: bos_token_id is missing, and tokenizer_config.json names no bos_token")
	}
	return nil
}

// begin sets BOS to the token that tokenizer_config.json names, or else to another.
func (f *File) begin(tc tokenizerConfig, otherwise int) int {
	f.BOS = otherwise
	if id, ok := f.find(string(tc.BOS)); ok {
		f.BOS = id
	}
	return f.BOS
}

func (f *File) find(text string) (id int, ok bool) {
	if text == "" {
		return 0, false
	}
	id = slices.IndexFunc(f.Tokens, func(t Token) bool { return t.Text == text })
	return id, id >= 0
}

// known returns the ids that are tokens.
func (f *File) known(ids []int) []int {
	return slices.DeleteFunc(slices.Clone(ids), func(id int) bool { return id < 0 || id >= len(f.Tokens) })
}

// union returns the ids of all lists, each once.
func union(lists ...[]int) []int {
	var out []int
	seen := map[int]bool{} // a file may list any number of ids
	for _, id := range slices.Concat(lists...) {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// endIDs are bos_token_id, and eos_token_id: a number or a list.
type endIDs struct {
	bos   *int // nil: not given
	eos   []int
	given bool // eos is
}

// readEndIDs reads a file, which may be nil.
func readEndIDs(name string, raw []byte) (endIDs, error) {
	if raw == nil {
		return endIDs{}, nil
	}
	var c struct {
		BOS *int            `json:"bos_token_id"`
		EOS json.RawMessage `json:"eos_token_id"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return endIDs{}, fault.Errorf(fault.Invalid, "%s: %w", name, err)
	}
	out := endIDs{bos: c.BOS}
	eos := bytes.TrimSpace(c.EOS)
	if len(eos) == 0 || bytes.Equal(eos, []byte("null")) {
		return out, nil
	}
	out.given = true
	var err error
	if eos[0] == '[' {
		err = json.Unmarshal(eos, &out.eos)
	} else {
		out.eos = make([]int, 1)
		err = json.Unmarshal(eos, &out.eos[0])
	}
	if err != nil {
		return endIDs{}, fault.Errorf(fault.Invalid, "%s: eos_token_id is neither a number nor a list of numbers: %w", name, err)
	}
	return out, nil
}

// beginsText reports whether the tokenizer puts BOS before a text where add_bos_token is
// not given: some classes do, for others the post-processor says it. Where neither says
// anything, it does as distributed-llama's converter assumes.
func (c tokenizerConfig) beginsText(in Files, f File) bool {
	is := func(prefix string) bool { return strings.HasPrefix(c.Class, prefix) }
	if slices.ContainsFunc([]string{"Llama", "CodeLlama", "Gemma"}, is) {
		return true
	}
	var tj struct {
		PostProcessor *postProcessor `json:"post_processor"`
	}
	if in.TokenizerJSON == nil || json.Unmarshal(in.TokenizerJSON, &tj) != nil || tj.PostProcessor == nil {
		return !slices.ContainsFunc([]string{"Qwen", "GPT2"}, is)
	}
	return tj.PostProcessor.begins(f.Tokens[f.BOS].Text)
}

// A postProcessor is that of tokenizer.json, as far as it may add BOS.
type postProcessor struct {
	Type       string          `json:"type"`
	Processors []postProcessor `json:"processors"` // of a Sequence
	Single     []struct {
		SpecialToken *struct {
			ID string `json:"id"` // its text
		} `json:"SpecialToken"`
	} `json:"single"` // of a TemplateProcessing
}

func (p postProcessor) begins(bos string) bool {
	if p.Type == "TemplateProcessing" {
		return len(p.Single) > 0 && p.Single[0].SpecialToken != nil && p.Single[0].SpecialToken.ID == bos
	}
	return slices.ContainsFunc(p.Processors, func(inner postProcessor) bool { return inner.begins(bos) })
}
