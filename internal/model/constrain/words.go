package constrain

import "slices"

// words holds the ordinary tokens.
type words struct {
	tree // by bytes
	// kinds has, for branches that begin many tokens, what follows by kinds of bytes;
	// at wholeTree for all tokens.
	kinds map[int32]*tree
	many  int // tokens of such a branch
}

// wholeTree stands for the branch of the empty text.
const wholeTree = -1

// manyTokens is how many tokens a branch begins that gets a tree by kinds. Such
// trees take 4 bytes for each token, and 24 for each sequence of kinds.
const manyTokens = 1024

// newWords returns the words of the tokens with the given numbers. It keeps these.
func newWords(tokens []Token, ids []int32, many int) words {
	var bytes [256]uint8
	for b := range bytes {
		bytes[b] = uint8(b)
	}
	l := words{tree: newTree(tokens, ids, 0, &bytes), kinds: map[int32]*tree{}, many: many}
	l.summarize(tokens, wholeTree, l.order, 0)
	return l
}

// summarize makes the trees by kinds of a branch, whose text has depth bytes, and of
// those that begin with it. The tokens of order are those longer than the branch.
func (l *words) summarize(tokens []Token, at int32, order []int32, depth int) {
	if len(order) < l.many {
		return
	}
	t := newTree(tokens, slices.Clone(order), depth, &kindOf)
	t.finish(wordsOf(tokens))
	l.kinds[at] = &t
	l.children(at, func(child int32, b branch) {
		l.summarize(tokens, child, l.order[b.first+b.count:l.below(b)], depth+1)
	})
}

// children visits the branches that are one byte longer than a branch.
func (l *words) children(at int32, visit func(at int32, b branch)) {
	end := int32(len(l.branches))
	if at != wholeTree {
		end = l.branches[at].end
	}
	for at++; at < end; at = l.branches[at].end {
		visit(at, l.branches[at])
	}
}
