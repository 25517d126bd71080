package constrain

import "slices"

// A band holds the ordinary tokens of similar lengths. States of a grammar that differ
// only in what follows after many bytes have the same mask of short tokens.
type band struct {
	tree // by bytes
	// kinds has, for branches that begin many tokens, what follows by kinds of bytes;
	// at wholeTree for all tokens.
	kinds map[int32]*tree
	many  int // tokens of such a branch
}

// bands is the number of bands, and longest has the bytes of the longest token of each
// band but the last, which has no limit.
const bands = 3

var longest = [bands - 1]int{8, 16}

// bandOf returns the band of tokens of so many bytes.
func bandOf(length int) int {
	for i, limit := range longest {
		if length <= limit {
			return i
		}
	}
	return bands - 1
}

// wholeTree stands for the branch of the empty text.
const wholeTree = -1

// manyTokens is how many tokens a branch begins that gets a tree by kinds. Such
// trees take 4 bytes for each token, and 24 for each sequence of kinds.
const manyTokens = 1024

// newBand returns the band of the tokens with the given numbers. It keeps these.
func newBand(tokens []Token, ids []int32, many int) band {
	var bytes [256]uint8
	for b := range bytes {
		bytes[b] = uint8(b)
	}
	l := band{tree: newTree(tokens, ids, 0, &bytes), kinds: map[int32]*tree{}, many: many}
	l.summarize(tokens, wholeTree, l.order, 0)
	return l
}

// summarize makes the trees by kinds of a branch, whose text has depth bytes, and of
// those that begin with it. The tokens of order are those longer than the branch.
func (l *band) summarize(tokens []Token, at int32, order []int32, depth int) {
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
func (l *band) children(at int32, visit func(at int32, b branch)) {
	end := int32(len(l.branches))
	if at != wholeTree {
		end = l.branches[at].end
	}
	for at++; at < end; at = l.branches[at].end {
		visit(at, l.branches[at])
	}
}
