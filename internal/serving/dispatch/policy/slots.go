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
	groups  groups
}

// A runner is one engine, which computes the requests in all its slots.
type runner struct {
	slots map[int]*slot
	busy  int // slots that are not idle
}

type slot struct {
	Slot
	runner *runner
	group  *group
	list   *list.List // cold, warm or nil
	elem   *list.Element
}

func newSlots() *slots {
	return &slots{runners: map[string]*runner{}, holders: map[string]map[*slot]bool{}}
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
		m = &slot{runner: r, group: p.groups.get(s.Group)}
		r.slots[s.Number] = m
	case m.equal(s):
		return
	default:
		p.unlink(m)
	}
	old := m.group
	m.Slot, m.group = s, p.groups.get(s.Group)
	p.link(m)
	p.groups.drop(old)
}

// link adds a slot to the lists by which it is found.
func (p *slots) link(m *slot) {
	if m.Affinity != "" {
		if p.holders[m.Affinity] == nil {
			p.holders[m.Affinity] = map[*slot]bool{}
		}
		p.holders[m.Affinity][m] = true
	}
	g := m.group
	g.size++
	g.serving.add(m.Slot, 1)
	if !m.Idle {
		m.runner.busy++
		return
	}
	m.list = g.cold
	if m.Affinity != "" {
		m.list = g.warm
	}
	m.elem = m.list.PushBack(m)
	g.idle.add(m.Slot, 1)
}

// unlink is the opposite of link.
func (p *slots) unlink(m *slot) {
	if m.Affinity != "" {
		delete(p.holders[m.Affinity], m)
		if len(p.holders[m.Affinity]) == 0 {
			delete(p.holders, m.Affinity)
		}
	}
	g := m.group
	g.size--
	g.serving.add(m.Slot, -1)
	if !m.Idle {
		m.runner.busy--
		return
	}
	m.list.Remove(m.elem)
	m.list, m.elem = nil, nil
	g.idle.add(m.Slot, -1)
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
		p.groups.drop(m.group)
	}
}

// holder returns an idle slot that holds the conversation of a job, of the
// runner that works least. busy reports whether a slot holds it that is not
// idle. Slots that do not serve the job do not count, nor do those of groups that
// take no such jobs.
func (p *slots) holder(j Job) (found *slot, busy bool) {
	if j.Affinity == "" {
		return nil, false
	}
	fallback := p.groups.fallback(j.need())
	for m := range p.holders[j.Affinity] {
		switch {
		case !m.group.open(fallback), slices.Contains(j.Avoid, m.Runner), !m.serves(j.need()):
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
