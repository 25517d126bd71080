package fetch

import (
	"path"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
)

func TestMatch(t *testing.T) {
	cases := []struct {
		pattern, path string
		want          bool
	}{
		{"*.json", "config.json", true},
		{"*.json", "sub/dir/config.json", true}, // * crosses slashes
		{"*.json", "config.jsonl", false},
		{"tokenizer.model", "tokenizer.model", true},
		{"tokenizer.model", "original/tokenizer.model", false},
		{"original/*", "original/params.json", true},
		{"original/*", "x/original/params.json", false},
		{"original/", "original/a/b", true},
		{"model-?????-of-*", "model-00001-of-00002.safetensors", true},
		{"model-0000[1-3]-of-*", "model-00002-of-00009.x", true},
		{"model-0000[!1-3]-of-*", "model-00002-of-00009.x", false},
		{"[abc]", "b", true},
		{"[]]", "]", true},
		{"[a-]", "-", true},
		{"[", "[", true}, // a set that is never closed is itself
		{"[a", "[a", true},
		{"*", "", true},
		{"", "", true},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-b-b-d", false},
		{"**", "x/y", true},
		{strings.Repeat("a*", 500) + "b", strings.Repeat("a", 1000), false},
	}
	for _, c := range cases {
		if got := matchAny([]string{c.pattern}, c.path); got != c.want {
			t.Errorf("matchAny(%q, %q) = %v", c.pattern, c.path, got)
		}
	}
}

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

// Where * does not meet slashes, patterns mean what path.Match says.
func FuzzMatch(f *testing.F) {
	f.Add("a*[b-d]?", "axxcz")
	f.Add("[!a]*", "bcd")
	f.Add("*.safetensors", "model.safetensors")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		got := match(pattern, name)
		if strings.ContainsAny(pattern+name, "/\\[]^\x00") || !isASCII(pattern+name) {
			return
		}
		if want, err := path.Match(pattern, name); err == nil && got != want {
			t.Errorf("match(%q, %q) = %v, path.Match says %v", pattern, name, got, want)
		}
	})
}

func isASCII(s string) bool {
	for _, c := range []byte(s) {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
