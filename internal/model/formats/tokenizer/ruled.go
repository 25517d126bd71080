package tokenizer

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer/normal"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer/split"
)

// A ruled encoder encodes text by rules, in the steps of Hugging Face's library:
// it finds added tokens, normalizes what lies between them, finds those added
// tokens that are normalized, splits the rest into words, and finds the tokens
// of each word.
type ruled struct {
	shown      []Token // with the texts that an answer shows
	raw, later finder  // added tokens before and after the normalizer
	normalizer normal.Normalizer
	splitter   split.Splitter
	words      words
	control    map[int]bool // control tokens
}

// maxGrowth bounds the memory for a text. NFKC with a sign of three bytes before
// and instead of spaces makes it 132 times as long.
const maxGrowth = 256

// space is the sign that represents a space in texts of tokens.
const space = "▁"

// newRuled compiles rules. The error is Invalid or Unsupported.
func newRuled(f File, r *Rules) (*ruled, error) {
	if err := r.validate(len(f.Tokens)); err != nil {
		return nil, err
	}
	e := &ruled{control: map[int]bool{}}
	var err error
	if e.normalizer, err = normal.Parse(r.Normalizer); err != nil {
		return nil, err
	}
	var byteLevel bool
	if e.splitter, byteLevel, err = split.Parse(r.PreTokenizer); err != nil {
		return nil, err
	}
	if g := e.normalizer.Growth() * e.splitter.Growth(); g > maxGrowth {
		return nil, fault.Errorf(fault.Unsupported, "normalizer and pre-tokenizer can make a text %g times as long, want at most %d", g, maxGrowth)
	}
	texts := r.texts(f, byteLevel)
	e.shown = r.shown(texts)
	if e.words, err = newWords(r, texts, byteLevel); err != nil {
		return nil, err
	}
	for _, a := range r.Added {
		if a.Control {
			e.control[int(a.ID)] = true
		}
		f := &e.raw
		if a.Normalized {
			f = &e.later
		}
		f.add(a, cmp.Or(a.Find, a.Text, texts[a.ID].Text))
	}
	e.raw.sort()
	e.later.sort()
	return e, nil
}

// texts returns the tokens with the texts that the model has for them.
func (r *Rules) texts(f File, byteLevel bool) []Token {
	out := make([]Token, len(f.Tokens))
	for id, t := range f.Tokens {
		out[id] = t
		if text, ok := r.Texts[int32(id)]; ok {
			out[id].Text = text
		} else if r.Spaces && !byteLevel {
			out[id].Text = strings.ReplaceAll(t.Text, " ", space)
		}
	}
	return out
}

// shown returns the tokens with the texts that they add to an answer.
func (r *Rules) shown(texts []Token) []Token {
	out := make([]Token, len(texts))
	for id, t := range texts {
		out[id] = t
		if r.Spaces {
			out[id].Text = strings.ReplaceAll(t.Text, space, " ")
		}
	}
	for _, a := range r.Added {
		if a.Text != "" {
			out[a.ID].Text = a.Text
		} else if a.Control {
			out[a.ID].Text = texts[a.ID].Text
		}
	}
	for b, id := range r.ByteTokens {
		out[id].Text = string([]byte{byte(b)})
	}
	return out
}

// encode returns the tokens of parts. The error is Invalid.
func (e *ruled) encode(bos int, parts []Part) ([]int, error) {
	w := e.words.writer()
	for begin := 0; begin < len(parts); {
		if parts[begin].BOS {
			w.ids = append(w.ids, bos)
			begin++
			continue
		}
		end := begin + 1
		for end < len(parts) && !parts[end].BOS {
			end++
		}
		if err := e.encodeText(w, joined(parts[begin:end])); err != nil {
			return nil, fmt.Errorf("cannot encode text: %w", err)
		}
		begin = end
	}
	return w.ids, nil
}

// joined returns the text of parts, with the plain ones marked.
func joined(parts []Part) normal.Text {
	var b strings.Builder
	plain := false
	for _, p := range parts {
		b.WriteString(p.Text)
		plain = plain || p.Plain
	}
	t := normal.Text{String: b.String()}
	if !plain {
		return t
	}
	t.Marks = make([]bool, 0, len(t.String))
	for _, p := range parts {
		for range len(p.Text) {
			t.Marks = append(t.Marks, p.Plain)
		}
	}
	return t
}

func (e *ruled) encodeText(w *writer, text normal.Text) error {
	for _, s := range e.raw.find(text) {
		if s.id >= 0 {
			w.ids = append(w.ids, int(s.id))
			continue
		}
		first := s.first
		for _, s := range e.later.find(e.normalizer.Normalize(s.text)) {
			if s.id >= 0 {
				w.ids = append(w.ids, int(s.id))
				continue
			}
			for _, word := range e.splitter.Split([]split.Word{{Text: s.text.String, First: first && s.first}}) {
				if err := w.word(word.Text); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// errNoToken reports text that no token represents.
func errNoToken(text string) error {
	return fault.Errorf(fault.Invalid, "no token represents %q", text)
}
