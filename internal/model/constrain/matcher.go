package constrain

import (
	"errors"
	"fmt"
)

// A Matcher follows one answer. It is not safe for concurrent use.
type Matcher struct {
	v     *Vocabulary
	a     *automaton
	at    *state
	ended bool

	set   Set    // the latest mask
	setOf *state // whose mask it is
	walk  walk
	key   []byte // of a local
}

// NewMatcher returns a matcher for an answer that has not begun.
func NewMatcher(g *Grammar, v *Vocabulary) *Matcher {
	m := &Matcher{v: v, a: newAutomaton(g), set: make(Set, v.size())}
	m.walk = walk{v: v, a: m.a}
	m.at = m.a.start()
	return m
}

// Ends reports whether the answer is complete.
func (m *Matcher) Ends() bool { return m.at.ends }

// Mask returns the tokens that may follow; after the end of the answer there is
// none. The set is valid until the next call. It fails if the vocabulary cannot
// write any text that may follow, or if a mask of the grammar takes too long.
func (m *Matcher) Mask() (Set, error) {
	if m.setOf == m.at && !m.ended {
		return m.set, nil
	}
	clear(m.set)
	m.setOf = nil
	if m.ended {
		return m.set, nil
	}
	m.a.work = 0
	m.fill()
	if m.a.work > maxWork {
		return nil, errors.New("a pattern or union of the schema allows too many ways to continue")
	}
	for _, word := range m.set {
		if word != 0 {
			m.setOf = m.at
			return m.set, nil
		}
	}
	return nil, errors.New("the vocabulary of the model has no token that can follow")
}

// maxWork limits the nodes that one mask may visit, because all answers wait for it:
// these take about 20 ms.
const maxWork = 1 << 18

// fill computes the mask.
func (m *Matcher) fill() {
	for _, p := range m.partsOf(m.at) {
		m.addLocal(p.local, p.after)
	}
	if m.at.framed(m.a.gr) {
		for _, id := range m.v.control {
			if m.afterControl(m.v.tokens[id].Text) != nil {
				m.set.add(id)
			}
		}
	}
	if m.at.ends {
		for _, id := range m.v.ends {
			m.set.add(id)
		}
	}
}

// addLocal adds the tokens of a local, with those that go on in the state after its rule,
// if there is one.
func (m *Matcher) addLocal(l *local, after *state) {
	if l.all != nil {
		m.set.addAll(l.all)
	}
	for _, id := range l.few {
		m.set.add(id)
	}
	if after == nil || len(l.exits) == 0 {
		return
	}
	m.walk.begin()
	for _, exit := range l.exits {
		m.walk.follow(exit, after)
	}
	m.walk.addTo(m.set)
}

// framed reports whether control tokens may write the next byte.
func (s *state) framed(gr *Grammar) bool {
	for _, t := range s.threads {
		if gr.nodes[t.node].frame {
			return true
		}
	}
	return false
}

// Advance adds a token to the answer. It fails, and changes nothing, if the mask
// does not have the token.
func (m *Matcher) Advance(token int) error {
	next := m.after(token)
	if next == nil {
		return fmt.Errorf("cannot add token %d to the answer: the form of the answer does not allow it", token)
	}
	m.at, m.ended = next, m.v.tokens[token].Kind == End
	return nil
}

// after returns the state after a token, or nil if the token is not allowed.
func (m *Matcher) after(token int) *state {
	if m.ended || token < 0 || token >= len(m.v.tokens) {
		return nil
	}
	t := m.v.tokens[token]
	switch {
	case t.Kind == End && m.at.ends:
		return m.at
	case t.Kind == End, t.Kind == Unused, t.Text == "":
		return nil
	case t.Kind == Control:
		return m.afterControl(t.Text)
	}
	next := m.at
	for i := range len(t.Text) {
		if next = m.a.step(next, t.Text[i]); next.dead() {
			return nil
		}
	}
	return next
}

// afterControl returns the state after a control token, or nil if it is not
// allowed.
func (m *Matcher) afterControl(text string) *state {
	s := m.at
	for i := range len(text) {
		allowed := false
		for _, t := range s.threads {
			if n := m.a.gr.nodes[t.node]; n.frame && n.lo <= text[i] && text[i] <= n.hi {
				m.a.reach(n.next, t.calls)
				allowed = true
			}
		}
		if !allowed {
			return nil
		}
		s = m.a.close()
	}
	return s
}

// Accepts reports whether a text belongs to the grammar.
func (gr *Grammar) Accepts(text string) bool {
	a := newAutomaton(gr)
	s := a.start()
	for i := 0; i < len(text) && !s.dead(); i++ {
		s = a.step(s, text[i])
	}
	return s.ends
}
