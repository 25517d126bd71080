package constrain

import (
	"context"
	"errors"
	"fmt"
)

// A Matcher follows one answer. It is not safe for concurrent use.
type Matcher struct {
	v     *Vocabulary
	a     *automaton
	done  <-chan struct{} // the client is gone
	at    *state
	ended bool

	set   Set    // the latest mask
	setOf *state // whose mask it is
	walk  walk
	key   []byte // of a local

	generation int32 // of the locals that states have
}

// NewMatcher returns a matcher for an answer that has not begun. It serves until ctx
// ends.
func NewMatcher(ctx context.Context, g *Grammar, v *Vocabulary) *Matcher {
	m := &Matcher{v: v, a: newAutomaton(g), done: ctx.Done(), set: make(Set, v.size())}
	m.walk = walk{v: v, a: m.a}
	m.begin()
	m.at = m.a.start()
	return m
}

// Ends reports whether the answer is complete.
func (m *Matcher) Ends() bool { return m.at.ends }

// begin starts the budget of a token: of the step to it, and of the mask after it.
func (m *Matcher) begin() {
	before := m.generation
	m.generation = m.v.common.generation.Load() + m.a.gr.own.generation.Load()
	kept := m.a.begin(m.done, m.at, before != m.generation)
	if m.setOf == m.at {
		m.setOf = kept
	}
	m.at = kept
}

// Mask returns the tokens that may follow; after the end of the answer there is
// none. The set is valid until the next call. It fails if the vocabulary cannot
// write any text that may follow. It fails with a LimitError, and from then on always,
// if a token of the grammar takes too long.
func (m *Matcher) Mask() (Set, error) {
	if m.setOf == m.at && !m.ended && m.a.budget.err == nil {
		return m.set, nil
	}
	clear(m.set)
	m.setOf = nil
	if m.ended {
		return m.set, nil
	}
	m.fill()
	if err := m.limit(); err != nil {
		return nil, err
	}
	for _, word := range m.set {
		if word != 0 {
			m.setOf = m.at
			return m.set, nil
		}
	}
	return nil, errors.New("the vocabulary of the model has no token that can follow")
}

// limit returns why the answer cannot go on, if its budget has ended.
func (m *Matcher) limit() error {
	err := m.a.budget.err
	if err == nil || errors.Is(err, errGone) {
		return err
	}
	return &LimitError{Part: m.a.gr.part(m.at), Bound: allowance(err, maxWork, maxHeld)}
}

// fill computes the mask.
func (m *Matcher) fill() {
	for _, p := range m.partsOf(m.at) {
		m.addLocal(p.local, p.after)
	}
	if m.at.framed(m.a.gr) {
		for _, id := range m.v.control {
			if m.a.budget.err == nil && m.afterControl(m.v.tokens[id].Text) != nil {
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
	m.a.spend(1 + (len(l.all)+len(l.few)+len(l.exits))/8)
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

// A LimitError reports that one token of an answer takes more than the budget of a
// token. It is final: another try ends in the same way.
type LimitError struct {
	Part  string // of the form
	Bound string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s allows too many ways to continue: a token takes %s", e.Part, e.Bound)
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
	m.begin()
	next := m.after(token)
	if err := m.limit(); err != nil {
		return err
	}
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
		m.a.spend(1 + len(s.threads)/8)
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
	a.begin(nil, nil, false)
	s := a.start()
	for i := 0; i < len(text) && !s.dead(); i++ {
		s = a.step(a.begin(nil, s, false), text[i])
	}
	return s.ends
}
