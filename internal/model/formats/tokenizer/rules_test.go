package tokenizer_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
)

const rulesData = "testdata/rules/"

// decoded reads a file of test data.
func decoded[T any](tb testing.TB, name string) (v T) {
	tb.Helper()
	if err := json.Unmarshal(read(tb, rulesData+name), &v); err != nil {
		tb.Fatal(err)
	}
	return v
}

// huggingFace returns the files of the tokenizers of the test data.
func huggingFace(tb testing.TB) map[string]tokenizer.Files {
	tb.Helper()
	type object = map[string]any
	models := decoded[map[string]object](tb, "models.json")
	out := map[string]tokenizer.Files{}
	for name, t := range decoded[map[string]object](tb, "tokenizers.json") {
		model := maps.Clone(models[t["base"].(string)])
		maps.Copy(model, t["set"].(object))
		delete(t, "base")
		delete(t, "set")
		t["model"] = model
		raw, err := json.Marshal(t)
		if err != nil {
			tb.Fatal(err)
		}
		out[name] = tokenizer.Files{
			Config:          []byte(`{"bos_token_id": 0, "eos_token_id": 1}`),
			TokenizerConfig: []byte(`{"tokenizer_class": "PreTrainedTokenizerFast"}`),
			TokenizerJSON:   raw,
		}
	}
	return out
}

// withRules converts a tokenizer, writes both files and reads them.
func withRules(tb testing.TB, in tokenizer.Files) *tokenizer.Tokenizer {
	tb.Helper()
	f, err := tokenizer.FromHuggingFace(in)
	if err != nil {
		tb.Fatal(err)
	}
	rules, err := tokenizer.RulesFromHuggingFace(in, f)
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := f.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	if f, err = tokenizer.Read(bytes.NewReader(raw)); err != nil {
		tb.Fatal(err)
	}
	if raw, err = rules.Encode(); err != nil {
		tb.Fatal(err)
	}
	if rules, err = tokenizer.ReadRules(bytes.NewReader(raw)); err != nil {
		tb.Fatal(err)
	}
	t, err := tokenizer.New(f, rules)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// TestAsHuggingFace compares tokens with those of Hugging Face's library.
func TestAsHuggingFace(t *testing.T) {
	var texts []string
	expected := decoded[map[string]json.RawMessage](t, "expected.json")
	if err := json.Unmarshal(expected["texts"], &texts); err != nil {
		t.Fatal(err)
	}
	for name, files := range huggingFace(t) {
		t.Run(name, func(t *testing.T) {
			var want [][]int
			if err := json.Unmarshal(expected[name], &want); err != nil {
				t.Fatal(err)
			}
			if len(want) != len(texts) {
				t.Fatalf("%d texts have %d expectations", len(texts), len(want))
			}
			tok := withRules(t, files)
			for i, text := range texts {
				got, err := tok.Encode(text, false)
				if err != nil {
					t.Errorf("%q: %v", text, err)
				} else if !slices.Equal(want[i], got) {
					t.Errorf("%q (-want +got): %s", text, cmp.Diff(want[i], got))
				}
			}
		})
	}
}

// TestAsSentencePiece compares tokens with those of the library sentencepiece.
func TestAsSentencePiece(t *testing.T) {
	expected := decoded[map[string]json.RawMessage](t, "sentencepiece.json")
	var texts []string
	if err := json.Unmarshal(expected["texts"], &texts); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bytes", "unknown"} {
		var want [][]int
		if err := json.Unmarshal(expected[name], &want); err != nil {
			t.Fatal(err)
		}
		if len(want) != len(texts) {
			t.Fatalf("%d texts have %d expectations", len(texts), len(want))
		}
		tok := withRules(t, tokenizer.Files{
			TokenizerConfig: []byte(`{"tokenizer_class": "LlamaTokenizer"}`),
			SentencePiece:   read(t, rulesData+"sentencepiece-"+name+".model"),
		})
		for i, text := range texts {
			got, err := tok.Encode(text, false)
			if err != nil {
				t.Errorf("%s: %q: %v", name, text, err)
			} else if !slices.Equal(want[i], got) {
				t.Errorf("%s: %q (-want +got): %s", name, text, cmp.Diff(want[i], got))
			}
		}
	}
}

// TestShownText wants the text back that tokens were made of, with the space that
// a normalizer begins it with.
func TestShownText(t *testing.T) {
	files := huggingFace(t)
	files["sentencepiece"] = tokenizer.Files{
		TokenizerConfig: []byte(`{"tokenizer_class": "LlamaTokenizer"}`),
		SentencePiece:   read(t, rulesData+"sentencepiece-bytes.model"),
	}
	const text = "Grüße, é 好 Ã© ▁  x\n\t🙂 <0x41> [INST]"
	for name, begin := range map[string]string{"llama2": " ", "mistral": " ", "gemma": "", "sentencepiece": " ", "qwen2": "", "deepseek3": ""} {
		tok := withRules(t, files[name])
		ids, err := tok.EncodeParts([]tokenizer.Part{{Text: text, Plain: true}})
		if err != nil {
			t.Fatal(err)
		}
		d := tok.Decoder()
		var got strings.Builder
		for _, id := range ids {
			got.WriteString(d.Next(id))
		}
		got.WriteString(d.Flush())
		want := text
		if name != "qwen2" && name != "deepseek3" {
			want = strings.ReplaceAll(text, "▁", " ") // they do not tell them apart
		}
		if got.String() != begin+want {
			t.Errorf("%s: %q comes back as %q", name, text, got.String())
		}
	}
}
