package constrain

import (
	"encoding/binary"
	"slices"
)

// A stack is a set of stacks of calls that await their end: those that begin with
// one of the frames, and the empty one. Equal stacks are the same pointer, as long
// as the memory of the automaton is not full.
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
	known map[string]*stack
	ids   uint32
	buf   []byte
	// united remembers unions.
	united map[[2]uint32]*stack
}

// get returns the stack with the given content. It keeps frames.
func (s *stacks) get(empty bool, frames []frame) *stack {
	s.buf = append(s.buf[:0], 0)
	if empty {
		s.buf[0] = 1
	}
	for _, f := range frames {
		s.buf = binary.LittleEndian.AppendUint32(s.buf, uint32(f.next))
		s.buf = binary.LittleEndian.AppendUint32(s.buf, f.below.id)
	}
	if st, ok := s.known[string(s.buf)]; ok {
		return st
	}
	st := &stack{id: s.ids, empty: empty, frames: frames}
	s.ids++
	s.known[string(s.buf)] = st
	return st
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
	s.united[key] = st
	return st
}
