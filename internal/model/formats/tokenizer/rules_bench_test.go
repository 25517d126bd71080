package tokenizer_test

import (
	"strings"
	"testing"
)

// BenchmarkRules encodes 256 KiB of prose, and of one character.
func BenchmarkRules(b *testing.B) {
	const prose = "The quick brown fox jumps over the lazy dog; it's 1234 times as fast, isn't it?\n\n\tdef f(x): return x  # Grüße 日本語\n"
	all := huggingFace(b)
	for _, name := range []string{"llama2", "llama3", "qwen2", "o200k"} {
		tok := withRules(b, all[name])
		for kind, text := range map[string]string{"Prose": prose, "Spaces": " ", "Letters": "a"} {
			text := strings.Repeat(text, 1<<18/len(text))
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if _, err := tok.Encode(text, false); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
