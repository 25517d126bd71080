package pool

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// A Phase is a phase in the life of a member.
type Phase string

// The phases, in order. A draining member may become active again.
const (
	Active   Phase = "Active"   // it accepts requests
	Draining Phase = "Draining" // it finishes its requests and accepts no others
	Drained  Phase = "Drained"  // it has no requests left and can be removed
)

// limits of a pool.
type limits struct {
	min, max int           // members
	perOne   int           // waiting requests that require another member
	idle     time.Duration // idle time after which a member is drained
}

// cooldown is how long no member is drained after the pool has grown, unless it has
// more members than allowed.
const cooldown = 15 * time.Second

// patience is how long members must be missing before the pool grows beyond the
// first: short peaks are served sooner than a member can start.
const patience = time.Second

// A standing is the state of a member's runner.
type standing struct {
	there    bool // it has a record
	ready    bool // it can accept requests, or could if it did not drain
	working  bool // it holds a request
	draining bool // it accepts no requests
}

// facts are the observations of a pool.
type facts struct {
	waiting, working int                 // requests
	runners          map[string]standing // by member
	// slots is how many requests a member computes at the same time; 0: not known.
	slots int
	// settled means that runners have had the time to announce themselves after
	// an outage of NATS.
	settled bool
}

// need returns the number of members for the current requests, if each computes
// slots requests at the same time.
func (f facts) need(l limits, slots int) int {
	slots = max(slots, 1)
	n := (f.working + f.waiting/max(l.perOne, 1) + slots - 1) / slots
	if n == 0 && f.waiting > 0 {
		n = 1
	}
	return min(n, l.max)
}

// A member is the stored state of a member.
type member struct {
	Name  string `json:"name"`
	Phase Phase  `json:"phase"`
	// Told means that its runner has or will get a drain order, which must be
	// revoked if the member becomes active again.
	Told bool `json:"told,omitempty"`
}

// A plan is the stored state of a pool, which all observers share.
type plan struct {
	Members []member `json:"members,omitempty"` // by number
	Next    int      `json:"next"`              // number of the next member
	// Needed holds when each number of members was last needed; the first entry
	// is for one member.
	Needed []time.Time `json:"needed,omitempty"`
	// Slots is the last known number of slots of a member, so that the pool does
	// not start too many from zero; absent is 1.
	Slots int       `json:"slots,omitempty"`
	Grown time.Time `json:"grown,omitzero"`
	Short time.Time `json:"short,omitzero"` // since when members are missing
}

// begin returns the plan of a new pool with its minimum members.
func begin(l limits, now time.Time) plan {
	var p plan
	for range l.min {
		p.add()
	}
	if l.min > 0 {
		p.Grown = now
	}
	return p
}

// resume returns the plan of a pool of which only the members are known. It assumes
// that all of them were needed.
func resume(members []member, next int, now time.Time) plan {
	p := plan{Members: slices.Clone(members), Next: next, Grown: now}
	slices.SortFunc(p.Members, byNumber)
	for _, m := range p.Members {
		if n, err := strconv.Atoi(m.Name); err == nil {
			p.Next = max(p.Next, n+1)
		}
		if m.Phase == Active {
			p.Needed = append(p.Needed, now)
		}
	}
	return p
}

// step returns the next plan for the facts. again is the time of the next step if
// nothing changes; zero means never.
func (p plan) step(l limits, f facts, now time.Time) (next plan, again time.Time) {
	p.Members, p.Needed = slices.Clone(p.Members), slices.Clone(p.Needed)
	p.forget(f)
	if f.slots > 0 {
		p.Slots = f.slots
		if f.slots == 1 {
			p.Slots = 0 // the stored form of 1
		}
	}
	need := f.need(l, p.Slots)
	p.note(need, now)
	target, until := p.recent(l, now)
	lasting, later := p.lasting(need, now)
	soon := earliest{}
	soon.add(later)
	active := p.active()
	switch up, down := max(l.min, lasting), max(l.min, min(target, l.max)); {
	case active < up:
		p.scaleUp(up-active, f, now)
	case active > l.max:
		p.scaleDown(active-l.max, f)
	case active > down:
		if at := p.Grown.Add(cooldown); now.Before(at) {
			soon.add(at)
		} else {
			p.scaleDown(active-down, f)
		}
	case active > up:
		soon.add(until)
	}
	p.drain(f)
	return p, soon.at
}

// forget drops drained members without a runner.
func (p *plan) forget(f facts) {
	p.Members = slices.DeleteFunc(p.Members, func(m member) bool {
		return m.Phase == Drained && f.settled && !f.runners[m.Name].there
	})
}

// note records when each number of members was needed.
func (p *plan) note(need int, now time.Time) {
	for len(p.Needed) < need {
		p.Needed = append(p.Needed, now)
	}
	for i := range need {
		p.Needed[i] = now
	}
}

// recent returns the number of members needed within the idle time, and when it
// decreases.
func (p *plan) recent(l limits, now time.Time) (n int, until time.Time) {
	for n < len(p.Needed) && now.Sub(p.Needed[n]) < l.idle {
		until = p.Needed[n].Add(l.idle)
		n++
	}
	p.Needed = p.Needed[:n]
	return n, until
}

// lasting returns the part of the need that counts now, and when more of it will.
// Beyond the first member, only a need that has lasted for patience counts.
func (p *plan) lasting(need int, now time.Time) (n int, later time.Time) {
	active := p.active()
	if need <= active {
		p.Short = time.Time{}
		return need, time.Time{}
	}
	if p.Short.IsZero() {
		p.Short = now
	}
	if at := p.Short.Add(patience); now.Before(at) {
		return min(need, max(active, 1)), at
	}
	return need, time.Time{}
}

// scaleUp makes n more members active: first draining ones, because they are
// running, then new ones.
func (p *plan) scaleUp(n int, f facts, now time.Time) {
	for i := range p.Members {
		if m := &p.Members[i]; n > 0 && m.Phase == Draining && (f.runners[m.Name].there || !f.settled) {
			m.Phase = Active
			p.Grown = now
			n--
		}
	}
	for ; n > 0; n-- {
		p.add()
		p.Grown = now
	}
}

func (p *plan) add() {
	p.Members = append(p.Members, member{Name: strconv.Itoa(p.Next), Phase: Active})
	p.Next++
}

// scaleDown drains n members: first those that do not serve yet, then idle ones,
// in each case the youngest first.
func (p *plan) scaleDown(n int, f facts) {
	var candidates []*member
	for i := range p.Members {
		if p.Members[i].Phase == Active {
			candidates = append(candidates, &p.Members[i])
		}
	}
	slices.Reverse(candidates)
	slices.SortStableFunc(candidates, func(a, b *member) int {
		return cmp.Compare(worth(f.runners[a.Name]), worth(f.runners[b.Name]))
	})
	for _, m := range candidates[:min(n, len(candidates))] {
		m.Phase, m.Told = Draining, true
	}
}

func worth(s standing) int {
	switch {
	case s.working:
		return 2
	case s.ready:
		return 1
	}
	return 0
}

// drain marks draining members without requests as drained, including those without
// a runner.
func (p *plan) drain(f facts) {
	for i := range p.Members {
		m := &p.Members[i]
		s := f.runners[m.Name]
		empty := s.there && s.draining && !s.working || !s.there && f.settled
		if m.Phase == Draining && empty {
			m.Phase = Drained
		}
		if m.Phase == Active && m.Told && s.there && !s.draining {
			m.Told = false
		}
	}
}

// orders returns whether to drain each runner, by member.
func (p *plan) orders(f facts) map[string]bool {
	out := map[string]bool{}
	for _, m := range p.Members {
		s := f.runners[m.Name]
		drain := m.Phase != Active
		if m.Told && s.there && s.draining != drain {
			out[m.Name] = drain
		}
	}
	return out
}

func (p *plan) active() (n int) {
	for _, m := range p.Members {
		if m.Phase == Active {
			n++
		}
	}
	return n
}

func byNumber(a, b member) int {
	x, _ := strconv.Atoi(a.Name)
	y, _ := strconv.Atoi(b.Name)
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.Name, b.Name))
}

// earliest returns the earliest of the times that are not zero.
type earliest struct{ at time.Time }

func (e *earliest) add(at time.Time) {
	if !at.IsZero() && (e.at.IsZero() || at.Before(e.at)) {
		e.at = at
	}
}
