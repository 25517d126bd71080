// Package autoscaler decides how many members a pool of runners has, by the
// requests in its queue and the records of its runners. It has no effects: package
// pool observes, stores plans and sends orders.
package autoscaler

import (
	"cmp"
	"slices"
	"time"
)

// Limits of a pool.
type Limits struct {
	min, max int           // members
	perOne   int           // waiting requests that require another member
	idle     time.Duration // idle time after which a member is drained
}

// NewLimits returns limits from the fields of a pool, which may be out of order or
// 0: the most members count, and a member is drained after a second at least.
func NewLimits(minMembers, maxMembers, backlog, idleSeconds int) Limits {
	return Limits{
		min: min(minMembers, maxMembers), max: maxMembers, perOne: max(backlog, 1),
		idle: time.Duration(max(idleSeconds, 1)) * time.Second,
	}
}

// cooldown is how long no member is drained after the pool has grown, unless it has
// more members than allowed.
const cooldown = 15 * time.Second

// patience is how long members must be missing before the pool grows beyond the
// first: short peaks are served sooner than a member can start.
const patience = time.Second

// A runnerState is the state of a member's runner.
type runnerState struct {
	exists   bool // it has a record
	ready    bool // it can accept requests, or could if it did not drain
	working  bool // it holds a request
	draining bool // it accepts no requests
	taken    int  // slots that requests from elsewhere take, if its engine is a server that others use too
}

// A State is what the autoscaler knows about the queue and the runners.
type State struct {
	waiting, working int                    // requests
	runners          map[string]runnerState // by member
	// slots is how many requests a member computes at the same time; 0: not known.
	slots int
	// elsewhere is how many of the working requests other groups of runners compute,
	// fallbacks excepted, whose requests the members are to take over.
	elsewhere int
	// room means that such a group has a free slot. What waits then is about to be
	// assigned to it, unless it does not serve it.
	room bool
	// unused means that the members take nothing of what waits: their weight is 0, or
	// they are fallbacks and another group is ready. They finish what they have.
	unused bool
	// settled means that runners have had the time to announce themselves after
	// an outage of NATS.
	settled bool
}

// need returns the number of members for the current requests: of the active ones,
// which may have fewer slots than others because requests from elsewhere take some,
// and new ones with all slots.
func (s State) need(l Limits, p *Plan) int {
	slots := max(p.Slots, 1)
	waiting := s.waiting
	if s.unused {
		waiting = 0
	}
	requests := max(s.working-s.elsewhere, 0) + waiting/max(l.perOne, 1)
	n := 0
	for _, m := range p.Members {
		if requests > 0 && m.Phase == Active {
			requests -= max(slots-s.runners[m.Name].taken, 1)
			n++
		}
	}
	n += (max(requests, 0) + slots - 1) / slots
	if n == 0 && waiting > 0 {
		n = 1
	}
	return min(n, l.max)
}

// Step returns the next plan for a state of the pool. It does not change p.
// again is the time of the next step if nothing changes; zero means never.
func (p Plan) Step(l Limits, s State, now time.Time) (next Plan, again time.Time) {
	p.Members, p.NeededAt = slices.Clone(p.Members), slices.Clone(p.NeededAt)
	p.removeDrained(s)
	if s.slots > 0 {
		p.Slots = s.slots
		if s.slots == 1 {
			p.Slots = 0 // the stored form of 1
		}
	}
	need := s.need(l, &p)
	p.recordNeed(need, now)
	target, until := p.recentNeed(l, now)
	lasting, later := p.lastingNeed(need, s.room, now)
	soon := Earliest{}
	soon.Add(later)
	soon.Add(p.resize(l, s, size{up: max(l.min, lasting), down: max(l.min, min(target, l.max)), until: until}, now))
	p.markDrained(s)
	return p, soon.At
}

// A size is how many members a pool needs: up now, and down within the idle time,
// until a time at which that may be fewer.
type size struct {
	up, down int
	until    time.Time
}

// resize makes members active or drains them, and returns when that may change;
// zero means not by time.
func (p *Plan) resize(l Limits, s State, want size, now time.Time) (again time.Time) {
	active := p.active()
	if active < want.up {
		p.scaleUp(want.up-active, s, now)
		return time.Time{}
	}
	if active > l.max {
		p.scaleDown(active-l.max, s)
		return time.Time{}
	}
	if active > want.down {
		if at := p.GrownAt.Add(cooldown); now.Before(at) {
			return at
		}
		p.scaleDown(active-want.down, s)
		return time.Time{}
	}
	if active > want.up {
		return want.until
	}
	return time.Time{}
}

// removeDrained removes drained members without a runner.
func (p *Plan) removeDrained(s State) {
	p.Members = slices.DeleteFunc(p.Members, func(m Member) bool {
		return m.Phase == Drained && s.settled && !s.runners[m.Name].exists
	})
}

// recordNeed records when each number of members was needed.
func (p *Plan) recordNeed(need int, now time.Time) {
	for len(p.NeededAt) < need {
		p.NeededAt = append(p.NeededAt, now)
	}
	for i := range need {
		p.NeededAt[i] = now
	}
}

// recentNeed returns the number of members needed within the idle time, and when it
// decreases.
func (p *Plan) recentNeed(l Limits, now time.Time) (n int, until time.Time) {
	for n < len(p.NeededAt) && now.Sub(p.NeededAt[n]) < l.idle {
		until = p.NeededAt[n].Add(l.idle)
		n++
	}
	p.NeededAt = p.NeededAt[:n]
	return n, until
}

// lastingNeed returns the part of the need that counts now, and when more of it will.
// Beyond the first member, and while others have room, only a need that has lasted
// for patience counts.
func (p *Plan) lastingNeed(need int, room bool, now time.Time) (n int, later time.Time) {
	active := p.active()
	if need <= active {
		p.MissingSince = time.Time{}
		return need, time.Time{}
	}
	if p.MissingSince.IsZero() {
		p.MissingSince = now
	}
	if at := p.MissingSince.Add(patience); now.Before(at) {
		if active == 0 && !room {
			active = 1
		}
		return min(need, active), at
	}
	return need, time.Time{}
}

// scaleUp makes n more members active: first draining ones, because they are
// running, then new ones.
func (p *Plan) scaleUp(n int, s State, now time.Time) {
	for i := range p.Members {
		if m := &p.Members[i]; n > 0 && m.Phase == Draining && (s.runners[m.Name].exists || !s.settled) {
			m.Phase = Active
			p.GrownAt = now
			n--
		}
	}
	for ; n > 0; n-- {
		p.add()
		p.GrownAt = now
	}
}

// scaleDown drains n members: first those that do not serve yet, then idle ones,
// in each case the youngest first.
func (p *Plan) scaleDown(n int, s State) {
	var candidates []*Member
	for i := range p.Members {
		if p.Members[i].Phase == Active {
			candidates = append(candidates, &p.Members[i])
		}
	}
	slices.Reverse(candidates)
	slices.SortStableFunc(candidates, func(a, b *Member) int {
		return cmp.Compare(drainOrder(s.runners[a.Name]), drainOrder(s.runners[b.Name]))
	})
	for _, m := range candidates[:min(n, len(candidates))] {
		m.Phase, m.DrainOrdered = Draining, true
	}
}

// drainOrder returns the rank of a member in the order of draining, lowest first.
func drainOrder(r runnerState) int {
	switch {
	case r.working:
		return 2
	case r.ready:
		return 1
	}
	return 0
}

// markDrained marks draining members without requests as drained, including those
// without a runner.
func (p *Plan) markDrained(s State) {
	for i := range p.Members {
		m := &p.Members[i]
		r := s.runners[m.Name]
		empty := r.exists && r.draining && !r.working || !r.exists && s.settled
		if m.Phase == Draining && empty {
			m.Phase = Drained
		}
		if m.Phase == Active && m.DrainOrdered && r.exists && !r.draining {
			m.DrainOrdered = false
		}
	}
}

// Earliest is the earliest of the times that are not zero.
type Earliest struct{ At time.Time }

// Add adds a time.
func (e *Earliest) Add(at time.Time) {
	if !at.IsZero() && (e.At.IsZero() || at.Before(e.At)) {
		e.At = at
	}
}
