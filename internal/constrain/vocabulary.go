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
	tree            // of ordinary tokens by bytes
	// kinds has, for branches that begin many tokens, what follows by kinds of bytes;
	// at wholeTree for all tokens.
	kinds   map[int32]*tree
	many    int // tokens of such a branch
	builtin int // number of nodes that all grammars begin with

	common locals // of nodes that all grammars have
}

// wholeTree stands for the branch of the empty text.
const wholeTree = -1

// NewVocabulary returns the vocabulary of the tokens, whose ids are their places.
// Tokens without text are not used.
func NewVocabulary(tokens []Token) *Vocabulary { return newVocabulary(tokens, manyTokens) }

// manyTokens is how many tokens a branch begins that gets a tree by kinds. Such
// trees take 4 bytes for each token, and 24 for each sequence of kinds.
const manyTokens = 1024

func newVocabulary(tokens []Token, many int) *Vocabulary {
	v := &Vocabulary{tokens: tokens, many: many, builtin: len(newGraph().nodes), kinds: map[int32]*tree{}}
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
	var bytes [256]uint8
	for b := range bytes {
		bytes[b] = uint8(b)
	}
	v.tree = newTree(tokens, slices.Clip(ordinary), 0, &bytes)
	v.summarize(wholeTree, v.order, 0)
	return v
}

// summarize makes the trees by kinds of a branch, whose text has depth bytes, and of
// those that begin with it. The tokens are those longer than the branch.
func (v *Vocabulary) summarize(at int32, tokens []int32, depth int) {
	if len(tokens) < v.many {
		return
	}
	t := newTree(v.tokens, slices.Clone(tokens), depth, &kindOf)
	t.finish(v.size())
	v.kinds[at] = &t
	v.children(at, func(child int32, b branch) {
		v.summarize(child, v.order[b.first+b.count:v.below(b)], depth+1)
	})
}

// children visits the branches that are one byte longer than a branch.
func (v *Vocabulary) children(at int32, visit func(at int32, b branch)) {
	end := int32(len(v.branches))
	if at != wholeTree {
		end = v.branches[at].end
	}
	for at++; at < end; at = v.branches[at].end {
		visit(at, v.branches[at])
	}
}

// size is the number of words of a Set.
func (v *Vocabulary) size() int { return (len(v.tokens) + 63) / 64 }
