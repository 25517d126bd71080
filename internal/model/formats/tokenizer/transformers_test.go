package tokenizer_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
)

// TestAsTransformers holds that a folder is read as transformers reads it, also where
// distributed-llama's converter does not.
func TestAsTransformers(t *testing.T) {
	const (
		bosFirst = `,"post_processor":{"type":"Sequence","processors":[{"type":"ByteLevel"},{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A"}}]}]}}`
		eosLast  = `,"post_processor":{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A"}},{"SpecialToken":{"id":"</s>"}}]}}`
	)
	small := smallJSON[:len(smallJSON)-1]
	for name, c := range map[string]struct {
		config, generation, tc, tj string
		bos                        int
		eos                        []int
		addBOS                     bool
	}{
		"NoClass":               {config: ends, tc: `{}`, bos: 2, eos: []int{3}, addBOS: true},
		"OtherClass":            {config: ends, tc: `{"tokenizer_class":"GPT2Tokenizer"}`, bos: 2, eos: []int{3}},
		"EndOfGeneration":       {config: ends, generation: `{"eos_token_id":[3,1]}`, tc: fastConfig, bos: 2, eos: []int{3, 1}, addBOS: true},
		"OneEndOfGeneration":    {config: ends, generation: `{"eos_token_id":1}`, tc: fastConfig, bos: 2, eos: []int{3, 1}, addBOS: true},
		"NoEndOfGeneration":     {config: ends, generation: `{"eos_token_id":null}`, tc: fastConfig, bos: 2, eos: []int{3}, addBOS: true},
		"EndBeyondTokens":       {config: ends, generation: `{"eos_token_id":[3,99]}`, tc: fastConfig, bos: 2, eos: []int{3}, addBOS: true},
		"EndOnlyInGeneration":   {config: `{"bos_token_id":2}`, generation: `{"eos_token_id":3}`, tc: fastConfig, bos: 2, eos: []int{3}, addBOS: true},
		"EndOfTheTokenizer":     {config: `{"bos_token_id":2,"eos_token_id":1}`, tc: `{"eos_token":"</s>"}`, bos: 2, eos: []int{1, 3}, addBOS: true},
		"EndsAsObjects":         {config: `{"eos_token_id":null}`, tc: `{"bos_token":{"content":"<s>"},"eos_token":{"content":"</s>"}}`, bos: 2, eos: []int{3}, addBOS: true},
		"UnknownEnd":            {config: ends, tc: `{"eos_token":"<|other|>","bos_token":null}`, bos: 2, eos: []int{3}, addBOS: true},
		"PostProcessor":         {config: ends, tc: fastConfig, tj: small + bosFirst, bos: 2, eos: []int{3}, addBOS: true},
		"PostProcessorWithEOS":  {config: ends, tc: `{"tokenizer_class":"Qwen2Tokenizer"}`, tj: small + eosLast, bos: 2, eos: []int{3}},
		"ClassBeforeProcessor":  {config: ends, tc: `{"tokenizer_class":"LlamaTokenizerFast"}`, tj: small + eosLast, bos: 2, eos: []int{3}, addBOS: true},
		"NoPostProcessor":       {config: ends, tc: `{"tokenizer_class":"Qwen2TokenizerFast"}`, tj: small + `,"post_processor":null}`, bos: 2, eos: []int{3}},
		"ByteLevelProcessor":    {config: ends, tc: `{"tokenizer_class":"Qwen2Tokenizer"}`, tj: small + `,"post_processor":{"type":"ByteLevel"}}`, bos: 2, eos: []int{3}},
		"ConfigBeforeProcessor": {config: ends, tc: `{"add_bos_token":false}`, tj: small + bosFirst, bos: 2, eos: []int{3}},
	} {
		t.Run(name, func(t *testing.T) {
			in := tokenizer.Files{Config: []byte(c.config), TokenizerConfig: []byte(c.tc), TokenizerJSON: []byte(smallJSON)}
			if c.tj != "" {
				in.TokenizerJSON = []byte(c.tj)
			}
			if c.generation != "" {
				in.GenerationConfig = []byte(c.generation)
			}
			f, err := tokenizer.FromHuggingFace(in)
			if err != nil {
				t.Fatal(err)
			}
			if f.BOS != c.bos || !slices.Equal(f.EOS, c.eos) || f.AddBOS != c.addBOS {
				t.Errorf("BOS %d, EOS %d, added %t; want %d, %d, %t", f.BOS, f.EOS, f.AddBOS, c.bos, c.eos, c.addBOS)
			}
		})
	}
}

// TestAddedBesidePieces holds that tokens which a fine-tuning added beside tokenizer.model
// are tokens, and that the one that ends a turn ends an answer.
func TestAddedBesidePieces(t *testing.T) {
	pieces := bytes.Join([][]byte{
		pieceOf("<unk>", 0, 2), pieceOf("<s>", 0, 3), pieceOf("</s>", 0, 3), pieceOf("▁", 0, 1), pieceOf("a", -1, 1),
		message(2, 3<<3, 2), message(3, append([]byte{4 << 3, 0}, 3<<3, 1)...),
	}, nil)
	const decoder = `"added_tokens_decoder":{"1":{"content":"<s>","special":true},"5":{"content":"<|im_end|>","special":true},"6":{"content":"<|im_start|>","special":true}}`
	for name, in := range map[string]tokenizer.Files{
		"Decoder": {TokenizerConfig: []byte(`{"tokenizer_class":"LlamaTokenizer","eos_token":"<|im_end|>",` + decoder + `}`)},
		"AddedTokens": {
			TokenizerConfig: []byte(`{"tokenizer_class":"LlamaTokenizer","eos_token":"<|im_end|>"}`),
			AddedTokens:     []byte(`{"<|im_start|>":6,"<|im_end|>":5}`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			in.SentencePiece = pieces
			f, err := tokenizer.FromHuggingFace(in)
			if err != nil {
				t.Fatal(err)
			}
			if len(f.Tokens) != 7 || f.Tokens[5].Text != "<|im_end|>" || f.Tokens[6].Text != "<|im_start|>" || !slices.Equal(f.EOS, []int{5}) || f.BOS != 1 || !f.AddBOS {
				t.Errorf("got %+v", f)
			}
			rules, err := tokenizer.RulesFromHuggingFace(in, f)
			if err != nil {
				t.Fatal(err)
			}
			enc, err := tokenizer.New(f, rules)
			if err != nil {
				t.Fatal(err)
			}
			got, err := enc.EncodeParts([]tokenizer.Part{{Text: "<|im_start|>"}, {Text: "a", Plain: true}, {Text: "<|im_end|>"}})
			if err != nil || got[0] != 6 || got[len(got)-1] != 5 {
				t.Errorf("encoded as %d: %v", got, err)
			}
		})
	}
}

// TestTokensWithoutARow holds that a token after the embedding is left out if no text has it,
// and else refused before anything is written.
func TestTokensWithoutARow(t *testing.T) {
	const with = `{"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}}]},"added_tokens":[{"id":2,"content":"<s>"},{"id":3,"content":"</s>"},{"id":4,"content":"<pad>","special":SPECIAL}],"model":{"type":"BPE","vocab":{"a":0,"b":1}}}`
	for name, c := range map[string]struct {
		config, special string
		tokens          int
		kind            fault.Kind
	}{
		"LeftOut":  {`{"bos_token_id":2,"eos_token_id":3,"vocab_size":4}`, "true", 4, ""},
		"Fits":     {`{"bos_token_id":2,"eos_token_id":3,"vocab_size":5}`, "true", 5, ""},
		"Padded":   {`{"bos_token_id":2,"eos_token_id":3,"vocab_size":64}`, "true", 5, ""},
		"Outside":  {`{"bos_token_id":9,"eos_token_id":3,"vocab_size":5}`, "true", 0, fault.Invalid},
		"Ordinary": {`{"bos_token_id":2,"eos_token_id":3,"vocab_size":4}`, "false", 0, fault.Unsupported},
		"End":      {`{"bos_token_id":2,"eos_token_id":4,"vocab_size":4}`, "true", 0, fault.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			in := tokenizer.Files{Config: []byte(c.config), TokenizerConfig: []byte(fastConfig), TokenizerJSON: bytes.ReplaceAll([]byte(with), []byte("SPECIAL"), []byte(c.special))}
			// A token may be in the vocabulary, too.
			twice := bytes.Replace(in.TokenizerJSON, []byte(`"b":1`), []byte(`"b":1,"<pad>":4`), 1)
			both := in
			both.TokenizerJSON = twice
			if f, err := tokenizer.FromHuggingFace(both); err == nil {
				if _, err := tokenizer.RulesFromHuggingFace(both, f); err != nil {
					t.Error(err)
				}
			}
			f, err := tokenizer.FromHuggingFace(in)
			if c.kind != "" {
				if !fault.Is(err, c.kind) {
					t.Errorf("error is %v, want %s", err, c.kind)
				}
				return
			}
			if err != nil || len(f.Tokens) != c.tokens {
				t.Fatalf("%d tokens, want %d: %v", len(f.Tokens), c.tokens, err)
			}
			if _, err := tokenizer.RulesFromHuggingFace(in, f); err != nil {
				t.Error(err)
			}
		})
	}
}
