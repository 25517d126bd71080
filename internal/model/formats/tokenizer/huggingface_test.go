package tokenizer_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
)

// sources returns the tokenizer files of a folder.
func sources(tb testing.TB, dir string) tokenizer.Files {
	tb.Helper()
	optional := func(name string) []byte {
		b, err := os.ReadFile(dir + name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			tb.Fatal(err)
		}
		return b
	}
	return tokenizer.Files{
		Config:          optional("config.json"),
		TokenizerConfig: optional("tokenizer_config.json"),
		TokenizerJSON:   optional("tokenizer.json"),
		SentencePiece:   optional("tokenizer.model"),
		ChatTemplate:    optional("chat_template.jinja"),
	}
}

func TestOracles(t *testing.T) {
	const data = "../../../artifact/convert/testdata/"
	cases := map[string]string{"SentencePiece": "llama2_spm", "Fast": "llama3_fast"}
	for name, set := range cases {
		t.Run(name, func(t *testing.T) {
			f, err := tokenizer.FromHuggingFace(sources(t, data+"tok_in/"+set+"/"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Encode()
			if err != nil {
				t.Fatal(err)
			}
			want := read(t, data+"out/dllama_tokenizer_"+set+".t")
			if !bytes.Equal(got, want) {
				t.Errorf("wrote %d bytes that differ from the %d of the oracle", len(got), len(want))
			}
			back, err := tokenizer.Read(bytes.NewReader(want))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(f, back); d != "" {
				t.Errorf("read back (-want +got):\n%s", d)
			}
		})
	}
}

func TestTinySize(t *testing.T) {
	f, err := tokenizer.FromHuggingFace(sources(t, tiny))
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != 13372 {
		t.Errorf("the tokenizer has %d bytes, want 13372", len(b))
	}
}
