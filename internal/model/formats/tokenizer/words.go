package tokenizer

import (
	"unicode/utf8"

	"github.com/gorizond/koldun/internal/fault"
)

// words finds the tokens of words.
type words struct {
	tokenIndex                // of ordinary tokens
	merges     map[pair]merge // nil: by scores
	whole      bool           // a word that is a token is that token
	bytes      bool           // the symbols are bytes, not characters
	byteTokens []int32        // 256 or none
	unknown    int32          // -1: none
	fuse       bool           // several unknown characters are one token
}

type pair struct{ left, right int32 }

type merge struct {
	id   int32
	rank int32
}

// newWords takes neither control tokens nor those for bytes as ordinary. The
// error is Invalid.
func newWords(r *Rules, tokens []Token, byteLevel bool) (words, error) {
	w := words{
		tokenIndex: tokenIndex{tokens: tokens, ordinal: make(map[string]int, len(tokens))},
		whole:      r.IgnoreMerges, bytes: byteLevel, byteTokens: r.ByteTokens, unknown: -1, fuse: r.FuseUnknown,
	}
	if r.Unknown != nil {
		w.unknown = *r.Unknown
	}
	apart := make([]bool, len(tokens))
	for _, a := range r.Added {
		apart[a.ID] = a.Control
	}
	for _, id := range r.ByteTokens {
		apart[id] = true
	}
	for id := range tokens {
		if !apart[id] {
			w.add(id)
		}
	}
	if r.Model == Scores {
		return w, nil
	}
	w.merges = make(map[pair]merge, len(r.Merges)/2)
	for i := 0; i < len(r.Merges); i += 2 {
		p := pair{r.Merges[i], r.Merges[i+1]}
		id, ok := w.ordinal[tokens[p.left].Text+tokens[p.right].Text]
		if !ok {
			return words{}, fault.Errorf(fault.Invalid, "merge %d joins tokens %d and %d to %q, which is no token", i/2, p.left, p.right, tokens[p.left].Text+tokens[p.right].Text)
		}
		w.merges[p] = merge{int32(id), int32(i / 2)}
	}
	return w, nil
}

// join looks the neighbours up in the merges.
func (w *words) join(left, right *symbol) (id int32, score float32, ok bool) {
	m, ok := w.merges[pair{left.id, right.id}]
	return m.id, -float32(m.rank), ok
}

// A writer appends the tokens of words.
type writer struct {
	*words
	merger merger
	ids    []int
}

func (w *words) writer() *writer {
	out := &writer{words: w}
	out.merger.joiner = w
	return out
}

// unresolved is the id of a symbol that is no token.
const unresolved = -1

// word appends the tokens of a word. The error is Invalid.
func (w *writer) word(text string) error {
	if w.whole {
		if id, ok := w.ordinal[text]; ok {
			w.ids = append(w.ids, id)
			return nil
		}
	}
	w.merger.reset()
	if w.merges == nil {
		w.merger.joiner = byText{&w.tokenIndex, text}
	}
	for at := 0; at < len(text); {
		size := 1
		if !w.bytes {
			_, size = utf8.DecodeRuneInString(text[at:])
		}
		if err := w.symbol(text, at, at+size); err != nil {
			return err
		}
		at += size
	}
	w.merger.merge()
	return w.write(text)
}

// symbol adds a character. By merges, the tokens of its bytes are symbols, which
// merges may join; by scores, only texts are joined.
func (w *writer) symbol(text string, start, end int) error {
	if id, ok := w.ordinal[text[start:end]]; ok {
		w.merger.add(id, start, end)
		return nil
	}
	switch {
	case w.merges == nil:
		w.merger.add(unresolved, start, end)
	case len(w.byteTokens) > 0:
		for i := start; i < end; i++ {
			w.merger.add(int(w.byteTokens[text[i]]), i, i+1)
		}
	case w.unknown < 0:
		return errNoToken(text[start:end])
	default:
		w.merger.add(int(w.unknown), start, end)
	}
	return nil
}

// write appends the symbols of the merger.
func (w *writer) write(text string) error {
	unknown := false // the symbol before was unknown
	for _, s := range w.merger.symbols {
		if s.gone {
			continue
		}
		if s.id == unresolved && len(w.byteTokens) > 0 {
			for i := s.start; i < s.end; i++ {
				w.ids = append(w.ids, int(w.byteTokens[text[i]]))
			}
			unknown = false
			continue
		}
		if s.id == unresolved {
			s.id = w.unknown
		}
		if s.id < 0 {
			return errNoToken(text[s.start:s.end])
		}
		again := unknown && w.fuse
		if unknown = s.id == w.unknown; unknown && again {
			continue
		}
		w.ids = append(w.ids, int(s.id))
	}
	return nil
}
