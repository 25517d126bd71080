package constrain

import "slices"

// A Kind says what a token may be used for.
type Kind uint8

// The kinds.
const (
	Ordinary Kind = iota // text
	Control              // text that only literal parts of a grammar may hold
	End                  // ends the answer
	Unused               // never allowed
)

// A Token is an entry of a vocabulary.
type Token struct {
	Text string // bytes, not always valid UTF-8
	Kind Kind
}

// A Vocabulary holds the tokens of a model as a tree of their bytes. It is safe
// for concurrent use.
type Vocabulary struct {
	tokens  []Token
	control []int32 // tokens
	ends    []int32 // tokens
	words   words
	builtin int // number of nodes that all grammars begin with

	common locals // of nodes that all grammars have
}

// NewVocabulary returns the vocabulary of the tokens, whose ids are their places.
// Tokens without text are not used.
func NewVocabulary(tokens []Token) *Vocabulary { return newVocabulary(tokens, manyTokens) }

func newVocabulary(tokens []Token, many int) *Vocabulary {
	v := &Vocabulary{tokens: tokens, common: locals{most: maxLocals}, builtin: len(newGraph(newBudget(nil)).nodes)}
	var ordinary []int32
	for id, t := range tokens {
		switch {
		case t.Kind == End:
			v.ends = append(v.ends, int32(id))
		case t.Text == "" || t.Kind == Unused:
		case t.Kind == Control:
			v.control = append(v.control, int32(id))
		default:
			ordinary = append(ordinary, int32(id))
		}
	}
	v.words = newWords(tokens, slices.Clip(ordinary), many)
	return v
}

// size is the number of words of a Set.
func (v *Vocabulary) size() int { return wordsOf(v.tokens) }

func wordsOf(tokens []Token) int { return (len(tokens) + 63) / 64 }
