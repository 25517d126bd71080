package split

import (
	"strings"

	"github.com/gorizond/koldun/internal/model/formats/tokenizer/pattern"
)

// words of GPT-2.
const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

func (d definition) byteLevel() (Splitter, error) {
	var s sequence
	if d.AddPrefix == nil || *d.AddPrefix {
		s = append(s, prefixed{" ", false})
	}
	if d.UseRegex == nil || *d.UseRegex {
		p, err := pattern.Regex(gpt2)
		if err != nil {
			return nil, err
		}
		s = append(s, byPattern{p, isolated, false})
	}
	return s, nil
}

// prefixed begins words with a prefix unless they have it.
type prefixed struct {
	prefix    string
	firstOnly bool // only at the beginning of the whole text
}

func (s prefixed) Split(words []Word) []Word {
	out := make([]Word, 0, len(words))
	for _, w := range words {
		if !strings.HasPrefix(w.Text, s.prefix) && (w.First || !s.firstOnly) {
			w.Text = s.prefix + w.Text
		}
		out = append(out, w)
	}
	return out
}

func (s prefixed) Growth() float64 { return float64(1 + len(s.prefix)) }
