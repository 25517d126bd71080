package policy

import (
	"cmp"
	"container/list"
	"slices"
)

// slots knows the slots of all runners and finds the right idle one quickly.
type slots struct {
	runners map[string]*runner
	holders map[string]map[*slot]bool // by conversation, idle or not
	cold    *list.List                // idle slots without a conversation, longest idle first
	warm    *list.List                // idle slots with one, longest idle first
	serving map[need]int              // idle slots by Slot.needs
	count   int
}

// A runner is one engine, which computes the requests in all its slots.
type runner struct {
	slots map[int]*slot
	busy  int // slots that are not idle
}

type slot struct {
	Slot
	runner *runner
	list   *list.List // cold, warm or nil
	elem   *list.Element
}

func newSlots() *slots {
	return &slots{
		runners: map[string]*runner{},
		holders: map[string]map[*slot]bool{},
		cold:    list.New(),
		warm:    list.New(),
		serving: map[need]int{},
	}
}

// set adds a slot or changes it. One that stays as it is keeps its place in the
// order of idleness.
func (p *slots) set(s Slot) {
	r := p.runners[s.Runner]
	if r == nil {
		r = &runner{slots: map[int]*slot{}}
		p.runners[s.Runner] = r
	}
	m := r.slots[s.Number]
	switch {
	case m == nil:
		m = &slot{runner: r}
		r.slots[s.Number] = m
		p.count++
	case m.equal(s):
		return
	default:
		p.unlink(m)
	}
	m.Slot = s
	p.link(m)
}

// link adds a slot to the lists by which it is found.
func (p *slots) link(m *slot) {
	if m.Affinity != "" {
		if p.holders[m.Affinity] == nil {
			p.holders[m.Affinity] = map[*slot]bool{}
		}
		p.holders[m.Affinity][m] = true
	}
	if !m.Idle {
		m.runner.busy++
		return
	}
	m.list = p.cold
	if m.Affinity != "" {
		m.list = p.warm
	}
	m.elem = m.list.PushBack(m)
	for n := range m.needs() {
		p.serving[n]++
	}
}

// unlink is the opposite of link.
func (p *slots) unlink(m *slot) {
	if m.Affinity != "" {
		delete(p.holders[m.Affinity], m)
		if len(p.holders[m.Affinity]) == 0 {
			delete(p.holders, m.Affinity)
		}
	}
	if !m.Idle {
		m.runner.busy--
		return
	}
	m.list.Remove(m.elem)
	m.list, m.elem = nil, nil
	for n := range m.needs() {
		if p.serving[n]--; p.serving[n] == 0 {
			delete(p.serving, n)
		}
	}
}

// remove forgets all slots of a runner.
func (p *slots) remove(name string) {
	r := p.runners[name]
	if r == nil {
		return
	}
	delete(p.runners, name)
	for _, m := range r.slots {
		p.unlink(m)
		p.count--
	}
}

func (p *slots) idle() int { return p.cold.Len() + p.warm.Len() }

// serves reports whether an idle slot can be given a job. Runners of one session
// differ in few ways, so there are few sets of features to look at.
func (p *slots) serves(n need) bool {
	if p.serving[n] > 0 {
		return true
	}
	for has := range p.serving {
		if has.operation == n.operation && has.features.Include(n.features) {
			return true
		}
	}
	return false
}

// holder returns an idle slot that holds the conversation of a job, of the
// runner that works least. busy reports whether a slot holds it that is not
// idle. Slots that do not serve the job do not count.
func (p *slots) holder(j Job) (found *slot, busy bool) {
	if j.Affinity == "" {
		return nil, false
	}
	for m := range p.holders[j.Affinity] {
		switch {
		case slices.Contains(j.Avoid, m.Runner), !m.serves(j.need()):
		case !m.Idle:
			busy = true
		case found == nil || m.compare(found) < 0:
			found = m
		}
	}
	return found, busy
}

// compare orders idle slots of the same conversation: the one of the least busy
// runner first, then by name and number, so that the choice is deterministic.
func (s *slot) compare(other *slot) int {
	return cmp.Or(cmp.Compare(s.runner.busy, other.runner.busy), cmp.Compare(s.Runner, other.Runner), cmp.Compare(s.Number, other.Number))
}

// any returns the idle slot of the runner that works least, and among those the
// one whose prompt cache is worth the least. It skips the runners that the job
// avoids and the slots that do not serve it, and returns nil if there
// is no other.
func (p *slots) any(j Job) *slot {
	var found *slot
	for _, l := range []*list.List{p.cold, p.warm} {
		for e := l.Front(); e != nil; e = e.Next() {
			m := e.Value.(*slot) //nolint:forcetypeassert // the lists hold nothing else
			if found != nil && m.runner.busy >= found.runner.busy || slices.Contains(j.Avoid, m.Runner) || !m.serves(j.need()) {
				continue
			}
			if found = m; m.runner.busy == 0 {
				return m
			}
		}
	}
	return found
}
