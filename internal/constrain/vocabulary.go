package constrain

import (
	"slices"
	"strings"
)

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
	tree    []branch
	order   []int32 // ordinary tokens by text
	builtin int     // number of nodes that all grammars begin with

	common locals // of nodes that all grammars have
}

// A branch is a prefix of tokens; branches are in depth-first order.
type branch struct {
	end   int32 // the first branch that does not begin with this one
	first int32 // place in order of the tokens with exactly this text
	count int32 // of these tokens
	last  byte  // of the prefix
}

// NewVocabulary returns the vocabulary of the tokens, whose ids are their places.
// Tokens without text are not used.
func NewVocabulary(tokens []Token) *Vocabulary {
	v := &Vocabulary{tokens: tokens, builtin: len(newGraph().nodes)}
	for id, t := range tokens {
		switch {
		case t.Kind == End:
			v.ends = append(v.ends, int32(id))
		case t.Text == "" || t.Kind == Unused:
		case t.Kind == Control:
			v.control = append(v.control, int32(id))
		default:
			v.order = append(v.order, int32(id))
		}
	}
	slices.SortFunc(v.order, func(a, b int32) int {
		if c := strings.Compare(tokens[a].Text, tokens[b].Text); c != 0 {
			return c
		}
		return int(a - b)
	})
	v.build()
	return v
}

// build makes the tree of the sorted tokens.
func (v *Vocabulary) build() {
	var open []int32 // branches of the prefixes of the current token
	leave := func(depth int) {
		for len(open) > depth {
			v.tree[open[len(open)-1]].end = int32(len(v.tree))
			open = open[:len(open)-1]
		}
	}
	before := ""
	for place, id := range v.order {
		text := v.tokens[id].Text
		shared := 0
		for shared < min(len(before), len(text)) && before[shared] == text[shared] {
			shared++
		}
		leave(shared)
		for i := shared; i < len(text); i++ {
			open = append(open, int32(len(v.tree)))
			v.tree = append(v.tree, branch{last: text[i], first: int32(place)})
		}
		v.tree[open[len(open)-1]].count++
		before = text
	}
	leave(0)
	v.tree = slices.Clip(v.tree)
}

// size is the number of words of a Set.
func (v *Vocabulary) size() int { return (len(v.tokens) + 63) / 64 }
