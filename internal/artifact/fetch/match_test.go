package fetch

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
)

func TestDefaultPatterns(t *testing.T) {
	p, err := newPatterns(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]bool{
		"model.safetensors": true, "model-00001-of-00030.safetensors": true, "model.safetensors.index.json": true,
		"config.json": true, "tokenizer.json": true, "tokenizer.model": true, "tokenizer_config.json": true,
		"merges.txt": true, "chat_template.jinja": true, "README.md": true, "LICENSE.txt": true,
		"pytorch_model.bin": false, "model.gguf": false, "flax_model.msgpack": false, "model.pth": false,
		"original/consolidated.00.pth": false, "original/tokenizer.model": false, "original/params.json": false,
		"consolidated.safetensors": false, "consolidated-00001-of-00002.safetensors": false,
		"metal/model.bin": false, "onnx/model.onnx": false, ".gitattributes": false, "images/x.png": false,
	}
	for name, want := range cases {
		if got := p.match(name); got != want {
			t.Errorf("file %q: chosen %v", name, got)
		}
	}
	if _, err := newPatterns([]string{strings.Repeat("*", 2000)}, nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("a very long pattern: %v", err)
	}
}
