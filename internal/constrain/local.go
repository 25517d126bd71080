package constrain

import "encoding/binary"

// A Set is a set of tokens: bit t%64 of word t/64 is token t.
type Set []uint64

func (s Set) add(token int32) { s[token/64] |= 1 << (token % 64) }

// addAll adds the tokens of another set of the same vocabulary.
func (s Set) addAll(other Set) {
	for i, word := range other[:len(s)] {
		s[i] |= word
	}
}

// A local says what follows in a rule, whatever comes after it: most of a mask, and
// the same for all calls of the rule.
type local struct {
	few []int32 // tokens that are allowed after all texts of the rule, if they are few
	all Set     // the same, if they are many
	// exits are where the rule ends within tokens: these depend on what follows.
	exits []exit
}

// A part is a share of the threads of a state: those with the same calls.
type part struct {
	local *local
	after *state // the state after the rule; nil if the answer ends there
}

// fewTokens is how many tokens a list holds, before it takes more memory than a set.
func (v *Vocabulary) fewTokens() int { return 2 * v.size() }

// partsOf returns the parts of a state.
func (m *Matcher) partsOf(s *state) []part {
	if s.parts != nil {
		return s.parts
	}
	var done []*stack
	parts := []part{}
	for i, t := range s.threads {
		if contains(done, t.calls) {
			continue
		}
		done = append(done, t.calls)
		var alike []thread
		for _, u := range s.threads[i:] {
			if u.calls == t.calls {
				alike = append(alike, thread{u.node, m.a.bottom})
			}
		}
		p := part{local: m.localOf(alike)}
		if len(t.calls.frames) > 0 {
			p.after = m.a.pop(t.calls)
		}
		parts = append(parts, p)
	}
	if m.a.work <= maxWork {
		s.parts = parts
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

// localOf returns what follows for threads whose stack is the empty one.
func (m *Matcher) localOf(threads []thread) *local {
	key := make([]byte, 0, 4*len(threads))
	known := &m.v.common
	for _, t := range threads {
		key = binary.LittleEndian.AppendUint32(key, uint32(t.node))
		if int(t.node) >= m.v.builtin {
			known = &m.a.gr.own
		}
	}
	if l := known.get(m.v, string(key)); l != nil {
		return l
	}
	l := m.computeLocal(m.a.state(threads, false))
	if m.a.work <= maxWork { // else it is not complete
		known.put(m.v, string(key), l)
	}
	return l
}

func (m *Matcher) computeLocal(s *state) *local {
	w := &m.walk
	w.begin()
	w.all(s)
	l := &local{exits: append([]exit(nil), w.exits...)}
	if len(w.sets) == 0 && len(w.list) <= m.v.fewTokens() {
		l.few = append([]int32(nil), w.list...)
		return l
	}
	l.all = make(Set, m.v.size())
	w.addTo(l.all)
	return l
}
