package constrain

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// A thread is a node that awaits a byte, and the calls that led to it.
type thread struct {
	node  int32
	calls *stack
}

// A state is what may follow a text. Equal states are the same pointer, as long as
// the memory of the automaton is not full.
type state struct {
	threads []thread          // ascending by node
	ends    bool              // the text may end here
	next    []*state          // by class of the byte; nil is not known yet
	kinds   []*state          // by kind of the byte; nil is not known yet
	safe    map[uint8]kindSet // of safeKinds
	parts   []part            // of the mask; nil is not known yet
}

// dead reports whether no text can follow, not even the empty one.
func (s *state) dead() bool { return len(s.threads) == 0 && !s.ends }

// An automaton computes states when they are needed. It serves one answer.
type automaton struct {
	gr *Grammar
	stacks
	bottom *stack // the empty stack alone
	mixed  *state // stands for several states
	none   *state // no text follows
	states map[string]*state
	single map[[2]uint32]*state // after one thread alone, by its node and calls
	held   int                  // threads of these states

	// The closure being computed: the stack of each node, and the nodes that have
	// one.
	nodes   []*stack
	reached []int32
	queue   []int32
	key     []byte
	work    int // nodes visited so far
}

// maxHeld limits the states of an automaton, in bytes, and maxTables its other tables,
// in entries of about 100 bytes.
const (
	maxHeld   = 4 << 20
	maxTables = 16 << 10
)

func newAutomaton(gr *Grammar) *automaton {
	a := &automaton{gr: gr, mixed: &state{}, none: &state{}, nodes: make([]*stack, len(gr.nodes))}
	a.forget()
	a.bottom = a.get(true, nil)
	return a
}

// forget empties the tables. Numbers of stacks go on, so that old ones stay
// different from new ones.
func (a *automaton) forget() {
	a.held = 0
	a.single = map[[2]uint32]*state{}
	a.states, a.known, a.united = map[string]*state{}, map[string]*stack{}, map[[2]uint32]*stack{}
	if a.bottom != nil {
		a.known["\x01"] = a.bottom
	}
}

// start returns the state of the empty text.
func (a *automaton) start() *state {
	a.reach(a.gr.rules[a.gr.root].start, a.bottom)
	return a.close()
}

// step returns the state after one more byte.
func (a *automaton) step(s *state, b byte) *state {
	class := a.gr.class[b]
	if s.next == nil {
		s.next = make([]*state, a.gr.classes)
	}
	if s.next[class] == nil {
		s.next[class] = a.after(s, b)
	}
	return s.next[class]
}

// after computes the state after one more byte.
func (a *automaton) after(s *state, b byte) *state {
	var last thread // that goes on
	count := 0
	for _, t := range s.threads {
		if n := a.gr.nodes[t.node]; n.lo <= b && b <= n.hi {
			last = thread{n.next, t.calls}
			count++
			a.reach(last.node, last.calls)
		}
	}
	switch count {
	case 0:
		return a.none
	case 1:
	default:
		return a.close()
	}
	// Often, all bytes of a range go on with one thread to the same node.
	key := [2]uint32{uint32(last.node), last.calls.id}
	if known := a.single[key]; known != nil {
		a.drop()
		return known
	}
	next := a.close()
	a.single[key] = next
	return next
}

// pop returns the state after the rule of which calls are on the stack.
func (a *automaton) pop(calls *stack) *state {
	for _, f := range calls.frames {
		a.reach(f.next, f.below)
	}
	return a.close()
}

// reach adds a node to the closure being computed.
func (a *automaton) reach(at int32, calls *stack) {
	if !a.gr.nodes[at].live {
		return
	}
	before := a.nodes[at]
	if before == nil {
		a.reached = append(a.reached, at)
	} else if calls = a.union(before, calls); calls == before {
		return
	}
	a.nodes[at] = calls
	a.queue = append(a.queue, at)
}

// close follows the nodes that await no byte and returns the state.
func (a *automaton) close() *state {
	ends := false
	for len(a.queue) > 0 {
		at := a.queue[len(a.queue)-1]
		a.queue = a.queue[:len(a.queue)-1]
		a.work++
		calls, n := a.nodes[at], a.gr.nodes[at]
		switch n.kind {
		case nodeSplit:
			a.reach(n.next, calls)
			a.reach(n.other, calls)
		case nodeCall:
			after := calls
			if a.gr.nodes[n.next].kind != nodeEnd {
				after = a.push(n.next, calls)
			}
			a.reach(a.gr.rules[n.other].start, after)
		case nodeEnd:
			ends = ends || calls.empty
			for _, f := range calls.frames {
				a.reach(f.next, f.below)
			}
		case nodeBytes:
		}
	}
	return a.intern(ends)
}

// drop forgets the closure being computed.
func (a *automaton) drop() {
	for _, at := range a.reached {
		a.nodes[at] = nil
	}
	a.reached, a.queue = a.reached[:0], a.queue[:0]
}

// intern returns the state of the closure, and makes room for the next one.
func (a *automaton) intern(ends bool) *state {
	threads := make([]thread, 0, len(a.reached))
	for _, at := range a.reached {
		if a.gr.nodes[at].kind == nodeBytes {
			threads = append(threads, thread{at, a.nodes[at]})
		}
		a.nodes[at] = nil
	}
	a.reached = a.reached[:0]
	return a.state(threads, ends)
}

// state returns the state with the given threads. It keeps them.
func (a *automaton) state(threads []thread, ends bool) *state {
	slices.SortFunc(threads, func(x, y thread) int { return cmp.Compare(x.node, y.node) })
	a.key = append(a.key[:0], 0)
	if ends {
		a.key[0] = 1
	}
	for _, t := range threads {
		a.key = binary.LittleEndian.AppendUint32(a.key, uint32(t.node))
		a.key = binary.LittleEndian.AppendUint32(a.key, t.calls.id)
	}
	if s, ok := a.states[string(a.key)]; ok {
		return s
	}
	if a.held >= maxHeld || max(len(a.known), len(a.united), len(a.single)) >= maxTables {
		a.forget()
	}
	a.held += 256 + 24*len(threads) + 8*(a.gr.classes+kinds)
	s := &state{threads: threads, ends: ends}
	a.states[string(a.key)] = s
	return s
}
