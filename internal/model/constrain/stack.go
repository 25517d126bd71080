package constrain

import (
	"encoding/binary"
	"slices"
)

// A stack is a set of stacks of calls that await their end: those that begin with
// one of the frames, and the empty one. Equal stacks are the same pointer, until the
// automaton forgets them.
//
// A set in one value keeps ambiguous grammars cheap: an answer has at most one
// stack for each node.
type stack struct {
	id     uint32
	empty  bool
	frames []frame // ascending by next
}

// A frame is a call: after its rule, the answer continues at next.
type frame struct {
	next  int32
	below *stack
}

// stacks holds all stacks.
type stacks struct {
	*budget
	known map[string]*stack
	ids   uint32
	buf   []byte
	// united remembers unions.
	united map[[2]uint32]*stack
}

// Bytes that things take with their places in a table.
const (
	pairBytes  = 48
	stackBytes = 112
	frameBytes = 24 // with its part of the key
)

func (st *stack) bytes() int { return stackBytes + frameBytes*len(st.frames) }

// get returns the stack with the given content. It keeps frames.
func (s *stacks) get(empty bool, frames []frame) *stack {
	s.spend(1 + len(frames))
	s.key(empty, frames)
	if st, ok := s.known[string(s.buf)]; ok {
		return st
	}
	st := &stack{id: s.ids, empty: empty, frames: frames}
	s.ids++
	s.take(st.bytes())
	s.known[string(s.buf)] = st
	return st
}

// key writes the content of a stack to buf.
func (s *stacks) key(empty bool, frames []frame) {
	s.buf = append(s.buf[:0], 0)
	if empty {
		s.buf[0] = 1
	}
	for _, f := range frames {
		s.buf = binary.LittleEndian.AppendUint32(s.buf, uint32(f.next))
		s.buf = binary.LittleEndian.AppendUint32(s.buf, f.below.id)
	}
}

// keep adds a stack that was forgotten, with those below.
func (s *stacks) keep(st *stack) {
	s.key(st.empty, st.frames)
	if s.known[string(s.buf)] == st || !s.take(st.bytes()) {
		return
	}
	s.known[string(s.buf)] = st
	for _, f := range st.frames {
		s.keep(f.below)
	}
}

// push returns the stack with one more call.
func (s *stacks) push(next int32, below *stack) *stack {
	return s.get(false, []frame{{next, below}})
}

// union returns the stacks that are in a or b.
func (s *stacks) union(a, b *stack) *stack {
	if a == b {
		return a
	}
	if a.id > b.id {
		a, b = b, a
	}
	key := [2]uint32{a.id, b.id}
	if st, ok := s.united[key]; ok {
		return st
	}
	if !s.spend(2 + 2*len(a.frames) + 2*len(b.frames)) {
		return a
	}
	frames := make([]frame, 0, len(a.frames)+len(b.frames))
	for i, k := 0, 0; i < len(a.frames) || k < len(b.frames); {
		switch {
		case k == len(b.frames) || i < len(a.frames) && a.frames[i].next < b.frames[k].next:
			frames = append(frames, a.frames[i])
			i++
		case i == len(a.frames) || a.frames[i].next > b.frames[k].next:
			frames = append(frames, b.frames[k])
			k++
		default:
			frames = append(frames, frame{a.frames[i].next, s.union(a.frames[i].below, b.frames[k].below)})
			i++
			k++
		}
	}
	st := s.get(a.empty || b.empty, slices.Clip(frames))
	s.take(pairBytes)
	s.united[key] = st
	return st
}

// calling returns the stack after calls of one rule: the sets of stacks at some nodes with
// their call, or without one where the rule ends after it. The nodes ascend by what follows.
func (s *stacks) calling(calls []pending) *stack {
	if c := calls[0]; len(calls) == 1 {
		if c.tail {
			return c.below
		}
		return s.push(c.next, c.below)
	}
	var all *stack
	add := func(st *stack) {
		if all == nil {
			all = st
		} else {
			all = s.union(all, st)
		}
	}
	frames := make([]frame, 0, len(calls))
	for _, c := range calls {
		last := len(frames) - 1
		switch {
		case c.tail:
			add(c.below)
		case last >= 0 && frames[last].next == c.next:
			frames[last].below = s.union(frames[last].below, c.below)
		default:
			frames = append(frames, frame{c.next, c.below})
		}
	}
	if len(frames) > 0 {
		add(s.get(false, frames))
	}
	return all
}

// pending is a call that waits until all ways to its rule are known: the sets of stacks of
// many ways are made at once, as one after the other they would take the square of the time.
type pending struct {
	rule, next int32
	tail       bool // nothing follows but the end of the rule
	below      *stack
}
