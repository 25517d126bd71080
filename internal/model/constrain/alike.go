package constrain

// stepKind returns the state after any byte of a kind, or mixed if it depends on the
// byte.
func (a *automaton) stepKind(s *state, kind uint8) *state {
	if s.kinds == nil {
		a.take(8 * kinds)
		s.kinds = make([]*state, kinds)
	}
	if s.kinds[kind] == nil {
		s.kinds[kind] = a.afterKind(s, kind)
	}
	return s.kinds[kind]
}

// afterKind computes the state after any byte of a kind, or mixed.
func (a *automaton) afterKind(s *state, kind uint8) *state {
	samples := a.gr.samples[kind]
	if a.whole(s, kind) {
		return a.after(s, samples[0])
	}
	all := a.step(s, samples[0])
	for _, b := range samples[1:] {
		if a.step(s, b) != all {
			return a.mixed
		}
	}
	return all
}

// whole reports whether the threads of a state take all bytes of a kind or none.
func (a *automaton) whole(s *state, kind uint8) bool {
	a.spend(1 + len(s.threads)/8)
	k := kindEnds[kind]
	for _, t := range s.threads {
		n := a.gr.nodes[t.node]
		if (n.lo > k.lo || n.hi < k.hi) && n.lo <= k.hi && n.hi >= k.lo {
			return false
		}
	}
	return true
}

// maxSafe limits the states that safeKinds looks at.
const maxSafe = 64

// safeKinds returns kinds of which any bytes, however many, may follow a state: as in
// a text that needs to have a word somewhere. It has the wanted kind, or none.
func (a *automaton) safeKinds(s *state, wanted uint8) kindSet {
	if known, ok := s.safe[wanted]; ok {
		return known
	}
	safe := kindSet(1<<kinds - 1)
	reached := map[*state]bool{s: a.allows(s, wanted)} // and whether the wanted kind may follow
	queue := []*state{s}
	for len(queue) > 0 && safe.has(wanted) && a.spend(kinds) {
		at := queue[0]
		queue = queue[1:]
		for kind := range uint8(kinds) {
			if !safe.has(kind) {
				continue
			}
			for _, b := range a.gr.samples[kind] {
				next := a.step(at, b)
				allowed, seen := reached[next]
				if !seen {
					allowed = a.allows(next, wanted)
					reached[next] = allowed
				}
				if !allowed {
					safe &^= 1 << kind
					break
				}
				if !seen {
					queue = append(queue, next)
				}
			}
		}
		if len(reached) > maxSafe {
			safe = 0
		}
	}
	if !safe.has(wanted) || a.budget.err != nil {
		safe = 0
	}
	a.take(pairBytes)
	if s.safe == nil {
		s.safe = map[uint8]kindSet{}
	}
	s.safe[wanted] = safe
	return safe
}

// allows reports whether each byte of a kind may follow a state.
func (a *automaton) allows(s *state, kind uint8) bool {
	for _, b := range a.gr.samples[kind] {
		if a.step(s, b).dead() {
			return false
		}
	}
	return true
}
