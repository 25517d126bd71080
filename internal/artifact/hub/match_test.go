package hub

import (
	"path"
	"strings"
	"testing"
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
		if got := Match([]string{c.pattern}, c.path); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.pattern, c.path, got)
		}
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
