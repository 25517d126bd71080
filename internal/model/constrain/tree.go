package constrain

// A tree holds tokens by their bytes, or by the kinds of their bytes.
type tree struct {
	branches []branch // in depth-first order
	order    []int32  // tokens, in the order of the branches
	// follow has, for each branch of a tree by kinds, the kinds after it.
	follow []kindSet
	// sets has the tokens of branches that are very many.
	sets map[int32]Set
}

// A branch is a beginning of tokens.
type branch struct {
	end   int32 // the first branch that does not begin with this one
	first int32 // place in order of the tokens that are this one, then of longer ones
	count int32 // tokens that are this one
	last  uint8 // byte or kind
}

// below returns the place in order after the tokens that begin with a branch.
func (t *tree) below(b branch) int32 {
	if int(b.end) < len(t.branches) {
		return t.branches[b.end].first
	}
	return int32(len(t.order))
}

// finish sets follow and sets. Sets have so many words.
func (t *tree) finish(words int) {
	t.sets = map[int32]Set{}
	for at, b := range t.branches {
		if int(b.count) < words { // a set takes longer
			continue
		}
		set := make(Set, words)
		for _, id := range t.order[b.first : b.first+b.count] {
			set.add(id)
		}
		t.sets[int32(at)] = set
	}
	t.follow = make([]kindSet, len(t.branches))
	for at := len(t.branches) - 1; at >= 0; at-- {
		for next := int32(at + 1); next < t.branches[at].end; next = t.branches[next].end {
			t.follow[at] |= t.follow[next] | 1<<t.branches[next].last
		}
	}
}

// newTree returns the tree of tokens whose texts share the bytes before depth. It
// keeps the tokens.
func newTree(texts []Token, tokens []int32, depth int, of *[256]uint8) tree {
	g := grower{texts: texts, of: of, order: tokens, sorted: make([]int32, len(tokens))}
	g.grow(0, len(tokens), depth)
	return tree{branches: append([]branch(nil), g.branches...), order: tokens}
}

// A grower sorts tokens and adds their branches.
type grower struct {
	texts    []Token
	of       *[256]uint8
	order    []int32
	sorted   []int32 // memory for sorting
	branches []branch
}

// grow adds the branches of the tokens from lo to hi, whose texts are the same
// before depth, and returns how many of the tokens end there.
func (g *grower) grow(lo, hi, depth int) (ended int32) {
	g.sort(lo, hi, depth)
	for lo < hi && g.at(g.order[lo], depth) == 0 {
		lo++
		ended++
	}
	for lo < hi {
		c := g.at(g.order[lo], depth)
		next := lo + 1
		for next < hi && g.at(g.order[next], depth) == c {
			next++
		}
		at := len(g.branches)
		g.branches = append(g.branches, branch{last: uint8(c - 1), first: int32(lo)})
		count := g.grow(lo, next, depth+1)
		g.branches[at].count, g.branches[at].end = count, int32(len(g.branches))
		lo = next
	}
	return ended
}

// at returns what a token has at depth, plus 1, or 0 after its end.
func (g *grower) at(id int32, depth int) int {
	if text := g.texts[id].Text; depth < len(text) {
		return int(g.of[text[depth]]) + 1
	}
	return 0
}

// fewToSort is how many tokens are sorted faster without counting.
const fewToSort = 24

// sort sorts the tokens from lo to hi by what they have at depth, and keeps the order
// of equal ones.
func (g *grower) sort(lo, hi, depth int) {
	some := g.order[lo:hi]
	if len(some) <= fewToSort {
		for i := 1; i < len(some); i++ {
			id, c := some[i], g.at(some[i], depth)
			k := i
			for ; k > 0 && g.at(some[k-1], depth) > c; k-- {
				some[k] = some[k-1]
			}
			some[k] = id
		}
		return
	}
	var places [258]int32
	for _, id := range some {
		places[g.at(id, depth)+1]++
	}
	for i := 1; i < len(places); i++ {
		places[i] += places[i-1]
	}
	for _, id := range some {
		c := g.at(id, depth)
		g.sorted[places[c]] = id
		places[c]++
	}
	copy(some, g.sorted)
}
