package constrain

// A walk finds the tokens that may follow a state.
type walk struct {
	v     *Vocabulary
	a     *automaton
	list  []int32   // tokens that may follow
	runs  [][]int32 // further ones, in the order of a tree
	sets  []Set     // further ones
	exits []exit    // where a rule ends
	held  int       // bytes of these
}

// An exit is where a rule ends: at a branch of the vocabulary, for all tokens that
// are longer, or in one token.
type exit struct {
	branch int32 // or oneToken
	token  int32
	depth  int32 // bytes before the end of the rule
}

const oneToken = -1

// addTo adds what was found to a set.
func (w *walk) addTo(to Set) {
	for _, s := range w.sets {
		to.addAll(s)
	}
	for _, run := range w.runs {
		for _, id := range run {
			to.add(id)
		}
	}
	for _, id := range w.list {
		to.add(id)
	}
}

// listed returns how many tokens were found beside those of sets.
func (w *walk) listed() int {
	n := len(w.list)
	for _, run := range w.runs {
		n += len(run)
	}
	return n
}

// begin forgets what was found.
func (w *walk) begin() {
	w.grow()
	w.list, w.runs, w.sets, w.exits = w.list[:0], w.runs[:0], w.sets[:0], w.exits[:0]
}

// grow counts the memory of what was found. It is used again, and never gets less.
func (w *walk) grow() {
	held := 4*cap(w.list) + 24*cap(w.runs) + 24*cap(w.sets) + 12*cap(w.exits)
	w.a.take(held - w.held)
	w.a.fixed += held - w.held
	w.held = held
}

// leave adds an exit.
func (w *walk) leave(e exit) {
	if len(w.exits) == cap(w.exits) {
		w.grow()
	}
	w.exits = append(w.exits, e)
}

// all adds all tokens that may follow a state.
func (w *walk) all(s *state) { w.bytes(wholeTree, int32(len(w.v.words.branches)), s, 0) }

// follow adds the tokens at an exit whose rest may follow a state.
func (w *walk) follow(e exit, s *state) {
	if e.branch == oneToken {
		w.token(e.token, s, e.depth)
		return
	}
	w.bytes(e.branch, w.v.words.branches[e.branch].end, s, e.depth)
}

// bytes adds the tokens that are longer than a branch, and whose rest may follow a
// state. The branch ends before end; its text has depth bytes.
func (w *walk) bytes(at, end int32, s *state, depth int32) {
	if end-at >= int32(w.v.words.many)/2 { // else there is no tree by kinds: tokens rarely share a text
		if t := w.v.words.kinds[at]; t != nil {
			w.summary(t, at, s, depth)
			return
		}
	}
	for at++; at < end && w.a.spend(1); at = w.v.words.branches[at].end {
		w.branch(at, s, depth)
	}
}

// branch adds the tokens that begin with a branch, if its last byte and their rest may
// follow a state. The bytes before the last one are depth.
func (w *walk) branch(at int32, s *state, depth int32) {
	b := w.v.words.branches[at]
	reached := w.a.step(s, b.last)
	if reached.dead() {
		return
	}
	w.add(&w.v.words.tree, b.first, b.first+b.count)
	if b.end == at+1 {
		return
	}
	if reached.ends {
		w.leave(exit{branch: at, depth: depth + 1})
	}
	w.bytes(at, b.end, reached, depth+1)
}

// add adds the tokens at some places of a tree.
func (w *walk) add(t *tree, from, to int32) {
	switch {
	case to-from > 8: // a shorter run takes longer than its tokens
		w.runs = append(w.runs, t.order[from:to])
	default:
		w.list = append(w.list, t.order[from:to]...)
	}
}

// summary adds the same tokens by a tree of kinds, but those after a first kind of which
// too many depend on more than kinds.
func (w *walk) summary(t *tree, at int32, s *state, depth int32) {
	k := byKinds{walk: w, tree: t, at: at, begin: s, depth: depth, spare: 32 + len(t.order)/32}
	for next := int32(0); next < int32(len(t.branches)) && w.a.spend(1); next = t.branches[next].end {
		listed, runs, sets, exits, spare := len(w.list), len(w.runs), len(w.sets), len(w.exits), k.spare
		if !k.one(next, s, depth) {
			w.list, w.runs, w.sets, w.exits = w.list[:listed], w.runs[:runs], w.sets[:sets], w.exits[:exits]
			k.mixed |= 1 << t.branches[next].last
			k.spare = spare
		}
	}
	k.children()
}

// byKinds is a walk of the tokens that are longer than a branch.
type byKinds struct {
	*walk
	tree  *tree
	at    int32   // the branch
	begin *state  // after it
	depth int32   // its bytes
	mixed kindSet // kinds of the first byte after the branch to look at by bytes
	spare int     // tokens that it may look at one by one: more take longer than a walk by bytes
}

// add adds the tokens of the branches of kinds from at to end, whose rest after depth
// bytes may follow a state. It reports whether it could.
func (k *byKinds) add(at, end int32, s *state, depth int32) bool {
	for ; at < end && k.a.spend(1); at = k.tree.branches[at].end {
		if !k.one(at, s, depth) {
			return false
		}
	}
	return true
}

// one adds the tokens of a branch of kinds. It reports whether it could.
func (k *byKinds) one(at int32, s *state, depth int32) bool {
	b := k.tree.branches[at]
	reached := k.a.stepKind(s, b.last)
	if reached == k.a.mixed {
		if safe := k.a.safeKinds(s, b.last); safe.has(b.last) {
			return k.safe(at, safe)
		}
		// Branches of bytes are faster than tokens.
		return depth > k.depth && k.each(k.tree.order[b.first:k.tree.below(b)])
	}
	if reached.dead() {
		return true
	}
	k.own(at)
	return (!reached.ends || k.exit(b, depth)) && k.add(at+1, b.end, reached, depth+1)
}

// safe adds the tokens of a branch of kinds after which any bytes of safe kinds may
// follow.
func (k *byKinds) safe(at int32, safe kindSet) bool {
	b := k.tree.branches[at]
	if k.tree.follow[at]&^safe == 0 {
		k.walk.add(k.tree, b.first, k.tree.below(b))
		return true
	}
	k.own(at)
	for next := at + 1; next < b.end; next = k.tree.branches[next].end {
		child := k.tree.branches[next]
		if safe.has(child.last) {
			if !k.safe(next, safe) {
				return false
			}
		} else if !k.each(k.tree.order[child.first:k.tree.below(child)]) {
			return false
		}
	}
	return true
}

// own adds the tokens that are a branch of kinds.
func (k *byKinds) own(at int32) {
	if set, ok := k.tree.sets[at]; ok {
		k.sets = append(k.sets, set)
		return
	}
	b := k.tree.branches[at]
	k.walk.add(k.tree, b.first, b.first+b.count)
}

// children adds the tokens whose first byte after the branch has a mixed kind, by branches
// of bytes.
func (k *byKinds) children() {
	if k.mixed == 0 {
		return
	}
	k.v.words.children(k.at, func(at int32, child branch) {
		if k.mixed.has(kindOf[child.last]) {
			k.branch(at, k.begin, k.depth)
		}
	})
}

// each looks at tokens one by one. It reports whether they are few enough.
func (k *byKinds) each(tokens []int32) bool {
	if k.spare -= len(tokens); k.spare < 0 {
		return false
	}
	for _, id := range tokens {
		k.token(id, k.begin, k.depth)
	}
	return true
}

// exit adds the exits at a branch of kinds. It reports whether it could.
func (k *byKinds) exit(b branch, depth int32) bool {
	if depth == k.depth { // branches of bytes are faster than tokens
		k.v.words.children(k.at, func(at int32, child branch) {
			if kindOf[child.last] == b.last && child.end > at+1 {
				k.leave(exit{branch: at, depth: depth + 1})
			}
		})
		return true
	}
	longer := k.tree.order[b.first+b.count : k.tree.below(b)]
	if k.spare -= len(longer); k.spare < 0 {
		return false
	}
	for _, id := range longer {
		k.leave(exit{branch: oneToken, token: id, depth: depth + 1})
	}
	return true
}

// token adds a token whose rest after depth bytes may follow a state.
func (w *walk) token(id int32, s *state, depth int32) {
	text := w.v.tokens[id].Text
	w.a.spend(len(text))
	for i := int(depth); i < len(text); i++ {
		if s = w.a.step(s, text[i]); s.dead() {
			return
		}
		if s.ends && i+1 < len(text) {
			w.leave(exit{branch: oneToken, token: id, depth: int32(i + 1)})
		}
	}
	w.list = append(w.list, id)
}
