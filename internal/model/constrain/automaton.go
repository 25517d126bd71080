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

// A state is what may follow a text. Equal states are the same pointer, until the
// automaton forgets them.
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

// An automaton computes states when they are needed. It serves one answer. Once its
// budget has ended, nothing follows any state.
type automaton struct {
	gr     *Grammar
	budget budget
	stacks
	bottom *stack // the empty stack alone
	mixed  *state // stands for several states
	none   *state // no text follows
	states map[string]*state
	single map[[2]uint32]*state // after one thread alone, by its node and calls
	fixed  int                  // bytes that it never forgets

	// The closure being computed: the stack of each node, the nodes that have one, and
	// those to follow.
	nodes   []*stack
	reached []int32
	queue   []int32
	calls   []int32
	pending []pending
	key     []byte
}

const (
	// maxHeld limits the memory of an automaton, in bytes.
	maxHeld = 6 << 20
	// maxWork limits the work for one token, because all answers wait for it: this takes
	// about 20 ms.
	maxWork = 1 << 21

	nodeWork   = 8 // to follow a node
	stateBytes = 256
	placeBytes = 20 // of a node in a closure
)

func newAutomaton(gr *Grammar) *automaton {
	a := &automaton{gr: gr, mixed: &state{}, none: &state{}, nodes: make([]*stack, len(gr.nodes)), fixed: placeBytes * len(gr.nodes)}
	a.stacks.budget = &a.budget
	a.budget.begin(nil, maxWork, 0)
	a.forget(nil)
	a.bottom = a.get(true, nil)
	return a
}

// begin starts the budget of a token. It returns the given state, or an equal one if the
// automaton forgets the others: because it has to, or because they are old.
func (a *automaton) begin(done <-chan struct{}, at *state, old bool) *state {
	bytes := a.budget.bytes
	a.budget.begin(done, maxWork, bytes)
	if (old || bytes < (maxHeld-a.fixed)/2) && a.budget.err == nil {
		return a.forget(at)
	}
	return at
}

// forget empties the tables, but for a state. Numbers of stacks go on, so that old ones
// stay different from new ones.
func (a *automaton) forget(at *state) *state {
	a.budget.bytes = maxHeld - a.fixed
	a.single = map[[2]uint32]*state{}
	a.states, a.known, a.united = map[string]*state{}, map[string]*stack{}, map[[2]uint32]*stack{}
	if at == nil {
		return nil
	}
	a.keep(a.bottom)
	for _, t := range at.threads {
		a.keep(t.calls)
	}
	if a.budget.bytes < (maxHeld-a.fixed)/4*3 { // else the next token would forget again
		a.take(maxHeld)
	}
	return a.state(at.threads, at.ends)
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
		a.take(8 * a.gr.classes)
		s.next = make([]*state, a.gr.classes)
	}
	if s.next[class] == nil {
		s.next[class] = a.after(s, b)
	}
	return s.next[class]
}

// after computes the state after one more byte.
func (a *automaton) after(s *state, b byte) *state {
	if !a.spend(nodeWork + len(s.threads)/8) {
		return a.none
	}
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
	a.take(pairBytes)
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
	if a.gr.nodes[at].kind == nodeCall {
		a.calls = append(a.calls, at)
	} else {
		a.queue = append(a.queue, at)
	}
}

// close follows the nodes that await no byte and returns the state. It follows calls last,
// when there is nothing else to follow.
func (a *automaton) close() *state {
	ends := false
	for {
		for len(a.queue) > 0 {
			if !a.spend(nodeWork) {
				a.drop()
				return a.none
			}
			at := a.queue[len(a.queue)-1]
			a.queue = a.queue[:len(a.queue)-1]
			calls, n := a.nodes[at], a.gr.nodes[at]
			switch n.kind {
			case nodeSplit:
				a.reach(n.next, calls)
				a.reach(n.other, calls)
			case nodeEnd:
				ends = ends || calls.empty
				for _, f := range calls.frames {
					if !a.spend(1) {
						break
					}
					a.reach(f.next, f.below)
				}
			case nodeCall, nodeBytes:
			}
		}
		if len(a.calls) == 0 {
			return a.intern(ends)
		}
		a.enter()
	}
}

// enter follows the calls that are known.
func (a *automaton) enter() {
	a.pending = a.pending[:0]
	a.spend(nodeWork * len(a.calls))
	for _, at := range a.calls {
		n := a.gr.nodes[at]
		a.pending = append(a.pending, pending{n.other, n.next, a.gr.nodes[n.next].kind == nodeEnd, a.nodes[at]})
	}
	a.calls = a.calls[:0]
	slices.SortFunc(a.pending, func(x, y pending) int {
		return cmp.Or(cmp.Compare(x.rule, y.rule), cmp.Compare(x.next, y.next))
	})
	for from := 0; from < len(a.pending); {
		to := from + 1
		for to < len(a.pending) && a.pending[to].rule == a.pending[from].rule {
			to++
		}
		a.reach(a.gr.rules[a.pending[from].rule].start, a.calling(a.pending[from:to]))
		from = to
	}
}

// drop forgets the closure being computed.
func (a *automaton) drop() {
	for _, at := range a.reached {
		a.nodes[at] = nil
	}
	a.reached, a.queue, a.calls = a.reached[:0], a.queue[:0], a.calls[:0]
}

// intern returns the state of the closure, and makes room for the next one.
func (a *automaton) intern(ends bool) *state {
	a.spend(len(a.reached))
	threads := make([]thread, 0, len(a.reached))
	for _, at := range a.reached {
		if a.gr.nodes[at].kind == nodeBytes {
			threads = append(threads, thread{at, a.nodes[at]})
		}
		a.nodes[at] = nil
	}
	a.reached = a.reached[:0]
	slices.SortFunc(threads, func(x, y thread) int { return cmp.Compare(x.node, y.node) })
	return a.state(threads, ends)
}

// state returns the state with the given threads, which ascend by node. It keeps them.
func (a *automaton) state(threads []thread, ends bool) *state {
	a.spend(1 + len(threads))
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
	a.take(stateBytes + 24*cap(threads))
	s := &state{threads: threads, ends: ends}
	a.states[string(a.key)] = s
	return s
}
