package constrain

// A part is a share of the threads of a state: those with the same calls and the same
// block. A token may follow a state if it may follow one of the parts, and many states
// have parts in common.
type part struct {
	local *local
	after *state // the state after the rule; nil if the answer ends there
}

// maxParts limits the parts of the threads with the same calls: each takes a walk of the
// vocabulary.
const maxParts = 16

// partsOf returns the parts of a state.
func (m *Matcher) partsOf(s *state) []part {
	if s.parts != nil {
		return s.parts
	}
	parts := []part{}
	var done []*stack
	for i, t := range s.threads {
		if !m.a.spend(1+len(done)) || contains(done, t.calls) {
			continue
		}
		done = append(done, t.calls)
		var after *state
		if len(t.calls.frames) > 0 {
			after = m.a.pop(t.calls)
		}
		for _, alike := range m.byBlock(s.threads[i:], t.calls) {
			parts = append(parts, part{m.localOf(alike), after})
		}
	}
	if m.a.take(16 * cap(parts)) {
		s.parts = parts
	}
	return parts
}

// byBlock returns the threads with the given calls by their blocks, with the empty stack
// instead of the calls; all at once if the blocks are many.
func (m *Matcher) byBlock(threads []thread, calls *stack) [][]thread {
	m.a.spend(len(threads))
	var all []thread
	var blocks []int32
	var parts [][]thread
	for _, t := range threads {
		if t.calls != calls {
			continue
		}
		t.calls = m.a.bottom
		all = append(all, t)
		if len(blocks) > maxParts {
			continue
		}
		block := m.a.gr.nodes[t.node].block()
		at := len(blocks) - 1
		for ; at >= 0 && blocks[at] != block; at-- {
		}
		if at < 0 {
			at = len(blocks)
			blocks, parts = append(blocks, block), append(parts, nil)
		}
		parts[at] = append(parts[at], t)
	}
	if len(blocks) > maxParts {
		return [][]thread{all}
	}
	return parts
}

func contains(list []*stack, s *stack) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
