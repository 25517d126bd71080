package verify_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/artifact/verify"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
	"github.com/gorizond/koldun/internal/model/topology"
)

const config = `{"model_type":"llama","hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":128,"max_position_embeddings":256,"hidden_act":"silu"}`

// TestInspect reads files without a manifest, whole and spoiled.
func TestInspect(t *testing.T) {
	parsed, err := topology.ParseConfig([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	header, err := dllama.FromConfig(parsed, topology.Q40)
	if err != nil {
		t.Fatal(err)
	}
	weights, err := header.Encode()
	if err != nil {
		t.Fatal(err)
	}
	weights = append(weights, make([]byte, header.FileSize()-int64(len(weights)))...)
	words, err := (tokenizer.File{BOS: 0, EOS: []int{1}, Tokens: []tokenizer.Token{{Text: "<s>"}, {Text: "</s>"}, {Text: "a"}}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		model, tokenizer, weights string
		want                      fault.Kind // empty: it is whole
		says                      string
	}{
		"Whole":          {"sub/a.m", "a.t", "q40", "", ""},
		"AnyType":        {"sub/a.m", "a.t", "", "", ""},
		"WithoutWords":   {"sub/a.m", "", "", "", ""},
		"OtherType":      {"sub/a.m", "a.t", "f32", fault.Invalid, "type q40, and f32 is wanted"},
		"Short":          {"short.m", "a.t", "", fault.Corrupt, `file "short.m": it has`},
		"NoModel":        {"b.m", "a.t", "", fault.NotFound, `"b.m" does not exist: there are "short.m", "sub/a.m"`},
		"NoWords":        {"sub/a.m", "b.txt", "", fault.NotFound, `"b.txt" does not exist, nor does any other file *.txt`},
		"NoModelFile":    {"a.t", "a.t", "", fault.Corrupt, `file "a.t": cannot read model header`},
		"NoWordsFile":    {"sub/a.m", "short.m", "", fault.Corrupt, `file "short.m"`},
		"OutsideOfStore": {"../a.m", "", "", fault.Invalid, "../a.m"},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := dir.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for file, body := range map[string][]byte{"sub/a.m": weights, "short.m": weights[:len(weights)-1], "a.t": words} {
				if err := store.Put(t.Context(), file, body); err != nil {
					t.Fatal(err)
				}
			}
			shape, size, err := verify.Inspect(t.Context(), verify.Converted{Store: store, Model: c.model, Tokenizer: c.tokenizer, Weights: c.weights})
			if c.want != "" {
				if !fault.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %v, want %s %q", err, c.want, c.says)
				}
				return
			}
			all := int64(len(weights))
			if c.tokenizer != "" {
				all += int64(len(words))
			}
			if err != nil || shape != header.Shape() || size != all {
				t.Errorf("got %+v, %d bytes, %v; want %+v, %d bytes", shape, size, err, header.Shape(), all)
			}
		})
	}
}
