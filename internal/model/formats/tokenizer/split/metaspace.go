package split

import (
	"strings"
	"unicode/utf8"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer/pattern"
)

// metaspace writes spaces as another character, which also begins the text, and
// splits before each.
func (d definition) metaspace() (Splitter, error) {
	sign := d.Replacement
	if sign == "" {
		sign = "▁"
	}
	if utf8.RuneCountInString(sign) != 1 {
		return nil, fault.Errorf(fault.Invalid, "replacement is %q, want one character", sign)
	}
	s := sequence{written{sign}}
	scheme := d.Prepend
	if scheme == "" || d.AddPrefix != nil && !*d.AddPrefix { // older files have add_prefix_space
		scheme = "always"
		if d.AddPrefix != nil && !*d.AddPrefix {
			scheme = "never"
		}
	}
	switch scheme {
	case "always":
		s = append(s, prefixed{sign, false})
	case "first":
		s = append(s, prefixed{sign, true})
	case "never":
	default:
		return nil, fault.Errorf(fault.Unsupported, "prepend_scheme is %q", scheme)
	}
	if d.Split == nil || *d.Split {
		s = append(s, byPattern{pattern.Text(sign), mergedWithNext, false})
	}
	return s, nil
}

// written replaces spaces by a sign.
type written struct{ sign string }

func (s written) Split(words []Word) []Word {
	out := make([]Word, 0, len(words))
	for _, w := range words {
		w.Text = strings.ReplaceAll(w.Text, " ", s.sign)
		out = append(out, w)
	}
	return out
}

func (s written) Growth() float64 { return float64(len(s.sign)) }
