package policy

import (
	"cmp"
	"container/list"
	"slices"
)

// DefaultWeight is the weight of a group that SetGroup has not described.
const DefaultWeight = 100

// A Group is a set of runners that shares a weight, however many they are.
type Group struct {
	Name string
	// Weight is the group's share of the jobs, relative to the other groups that
	// could take them. With 0 the group takes none.
	Weight int
	// Fallback says that the group takes only jobs that no slot of another group
	// serves, be it idle or busy. Fallbacks share such jobs by weight.
	Fallback bool
}

// A group is a Group with its slots.
type group struct {
	Group
	// current is the group's credit in the smooth weighted round robin. A leader
	// that starts with no credits deviates by less than one round.
	current int
	size    int        // slots
	cold    *list.List // idle slots without a conversation, longest idle first
	warm    *list.List // idle slots with one, longest idle first
	idle    offers     // of the idle slots
	serving offers     // of all slots
}

func newGroup(name string) *group {
	return &group{
		Group: Group{Name: name, Weight: DefaultWeight},
		cold:  list.New(), warm: list.New(),
		idle: offers{}, serving: offers{},
	}
}

// open reports whether the group takes jobs, as a fallback or not.
func (g *group) open(fallback bool) bool { return g.Weight > 0 && g.Fallback == fallback }

func (g *group) free() int { return g.cold.Len() + g.warm.Len() }

// any returns the idle slot of the runner that works least, and among those the
// one whose prompt cache is worth the least. It skips the runners that the job
// avoids and the slots that do not serve it, and returns nil if there is no other.
func (g *group) any(j Job) *slot {
	if !g.idle.serve(j.need()) {
		return nil
	}
	var found *slot
	for _, l := range []*list.List{g.cold, g.warm} {
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

// groups are the groups that have slots, by name.
type groups []*group

// get returns a group, and adds it if it is missing.
func (s *groups) get(name string) *group {
	i, ok := s.find(name)
	if !ok {
		*s = slices.Insert(*s, i, newGroup(name))
	}
	return (*s)[i]
}

// describe sets weight and fallback of a group.
func (s *groups) describe(to Group) {
	g := s.get(to.Name)
	if g.Group == to {
		return
	}
	g.Group = to
	s.limitCredits()
}

// drop forgets a group without slots.
func (s *groups) drop(g *group) {
	if i, ok := s.find(g.Name); ok && g.size == 0 {
		*s = slices.Delete(*s, i, i+1)
		s.limitCredits()
	}
}

// limitCredits brings credits of larger weights to the scale of the present ones.
// Otherwise one group would take jobs until they are used up. Within a round of the
// same weights no credit is larger than their sum.
func (s groups) limitCredits() {
	total := map[bool]int{}
	for _, g := range s {
		total[g.Fallback] += g.Weight
	}
	for _, g := range s {
		limit := total[g.Fallback]
		g.current = min(max(g.current, -limit), limit)
	}
}

func (s *groups) find(name string) (int, bool) {
	return slices.BinarySearchFunc(*s, name, func(g *group, name string) int { return cmp.Compare(g.Name, name) })
}

// fallback reports whether jobs go to the fallback groups.
func (s groups) fallback(n need) bool {
	return !slices.ContainsFunc(s, func(g *group) bool { return g.open(false) && g.serving.serve(n) })
}

// serves reports whether an idle slot can be given a job.
func (s groups) serves(n need) bool {
	fallback := s.fallback(n)
	return slices.ContainsFunc(s, func(g *group) bool { return g.open(fallback) && g.idle.serve(n) })
}

// usable reports whether there is a job that an idle slot can be given.
func (s groups) usable() bool {
	for _, g := range s {
		if g.Weight == 0 || g.free() == 0 {
			continue
		}
		if !g.Fallback {
			return true
		}
		for n := range g.idle {
			if s.fallback(n) {
				return true
			}
		}
	}
	return false
}

// size returns the number of slots that take jobs, now or when they are idle.
func (s groups) size() (n int) {
	fallback := s.fallback(need{})
	for _, g := range s {
		if g.open(fallback) {
			n += g.size
		}
	}
	return n
}

// choose returns an idle slot for a job, of a group that it does not avoid if there
// is one.
func (s groups) choose(j Job) *slot {
	if m := s.share(j, j.AvoidGroups); m != nil || len(j.AvoidGroups) == 0 {
		return m
	}
	return s.share(j, nil)
}

// share returns an idle slot for a job of the group whose turn it is, by smooth
// weighted round robin among the groups that have one: of n jobs for the same
// groups, each gets n times its share of the weights, give or take about one.
func (s groups) share(j Job, avoid []string) *slot {
	fallback := s.fallback(j.need())
	var best *group
	var found *slot
	total := 0
	for _, g := range s {
		if !g.open(fallback) || slices.Contains(avoid, g.Name) {
			continue
		}
		m := g.any(j)
		if m == nil {
			continue
		}
		total += g.Weight
		g.current += g.Weight
		if best == nil || g.current > best.current {
			best, found = g, m
		}
	}
	if best != nil {
		best.current -= total
	}
	return found
}
