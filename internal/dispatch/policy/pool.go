package policy

import (
	"container/list"
	"slices"
)

// A pool knows the runners and finds the right idle one quickly.
type pool struct {
	runners map[string]*member
	holders map[string]map[string]*member // affinity -> name -> runner, idle or not
	cold    *list.List                    // idle runners without a conversation, longest idle first
	warm    *list.List                    // idle runners with one, longest idle first
}

type member struct {
	Runner
	list *list.List // cold, warm or nil
	elem *list.Element
}

func newPool() *pool {
	return &pool{
		runners: map[string]*member{},
		holders: map[string]map[string]*member{},
		cold:    list.New(),
		warm:    list.New(),
	}
}

func (p *pool) set(r Runner) {
	if old := p.runners[r.Name]; old != nil {
		if old.Runner == r {
			return // keeps its place in the order of idleness
		}
		p.remove(r.Name)
	}
	m := &member{Runner: r}
	p.runners[r.Name] = m
	if r.Affinity != "" {
		if p.holders[r.Affinity] == nil {
			p.holders[r.Affinity] = map[string]*member{}
		}
		p.holders[r.Affinity][r.Name] = m
	}
	if !r.Idle {
		return
	}
	m.list = p.cold
	if r.Affinity != "" {
		m.list = p.warm
	}
	m.elem = m.list.PushBack(m)
}

func (p *pool) remove(name string) {
	m := p.runners[name]
	if m == nil {
		return
	}
	delete(p.runners, name)
	if m.list != nil {
		m.list.Remove(m.elem)
	}
	if m.Affinity != "" {
		delete(p.holders[m.Affinity], name)
		if len(p.holders[m.Affinity]) == 0 {
			delete(p.holders, m.Affinity)
		}
	}
}

func (p *pool) idle() int { return p.cold.Len() + p.warm.Len() }

// holder finds an idle runner that holds the conversation. busy says that
// there is one that holds it and is not idle.
func (p *pool) holder(j Job) (m *member, busy bool) {
	if j.Affinity == "" {
		return nil, false
	}
	for _, h := range p.holders[j.Affinity] {
		switch {
		case slices.Contains(j.Avoid, h.Name):
		case !h.Idle:
			busy = true
		case m == nil || h.Name < m.Name: // any would do; be predictable
			m = h
		}
	}
	return m, busy
}

// any finds the idle runner whose cache is worth the least, not one to avoid.
func (p *pool) any(j Job) *member {
	for _, l := range []*list.List{p.cold, p.warm} {
		for e := l.Front(); e != nil; e = e.Next() {
			m := e.Value.(*member) //nolint:forcetypeassert // the lists hold nothing else
			if !slices.Contains(j.Avoid, m.Name) {
				return m
			}
		}
	}
	return nil
}
