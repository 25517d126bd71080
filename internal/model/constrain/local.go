package constrain

import (
	"encoding/binary"
	"slices"
)

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

// fewTokens is how many tokens a list holds, before it takes more memory than a set.
func (v *Vocabulary) fewTokens() int { return 2 * v.size() }

// localOf returns what follows for threads whose stack is the empty one.
func (m *Matcher) localOf(threads []thread) *local {
	m.a.spend(len(threads))
	m.key = m.key[:0]
	known := &m.v.common
	for _, t := range threads {
		m.key = binary.LittleEndian.AppendUint32(m.key, uint32(t.node))
		if int(t.node) >= m.v.builtin {
			known = m.a.gr.own
		}
	}
	key := string(m.key)
	if l := known.get(m.v, key); l != nil {
		return l
	}
	l := m.computeLocal(m.a.state(slices.Clone(threads), false))
	if m.a.budget.err == nil && !known.put(m.v, key, l) { // else it is not complete
		m.a.take(l.bytes())
	}
	return l
}

func (m *Matcher) computeLocal(s *state) *local {
	w := &m.walk
	w.begin()
	w.all(s)
	l := &local{exits: slices.Clone(w.exits)}
	if len(w.sets) == 0 && w.listed() <= m.v.fewTokens() {
		for _, run := range w.runs {
			l.few = append(l.few, run...)
		}
		l.few = append(l.few, w.list...)
		return l
	}
	l.all = make(Set, m.v.size())
	w.addTo(l.all)
	return l
}

// bytes returns the memory of a local.
func (l *local) bytes() int { return 128 + 4*cap(l.few) + 12*len(l.exits) + 8*len(l.all) }
