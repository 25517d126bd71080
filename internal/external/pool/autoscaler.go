package pool

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// A Phase is one step of the life of a member.
type Phase string

// The phases, in order. A member that drains may become active again.
const (
	Active   Phase = "Active"   // it takes requests
	Draining Phase = "Draining" // it finishes what it has and takes no more
	Drained  Phase = "Drained"  // it has nothing left and can go
)

// limits of a pool.
type limits struct {
	min, max int           // members
	perOne   int           // waiting requests that call for one more member
	idle     time.Duration // without need after which a member is drained
}

// cooldown is how long nobody is drained after the pool has grown, unless there
// are more members than allowed.
const cooldown = 15 * time.Second

// patience is how long members have to be short before the pool grows beyond
// the first: what waits for a moment only is served sooner than one can start.
const patience = time.Second

// A standing is what the runner of a member does.
type standing struct {
	there    bool // it has a record
	ready    bool // it can take requests, or would if it were not to drain
	working  bool // it holds a request
	draining bool // it takes no requests
}

// facts are what was seen of a pool.
type facts struct {
	waiting, working int                 // requests
	runners          map[string]standing // by member
	// slots is how many requests a member computes at the same time; 0: not known.
	slots int
	// settled: whoever is alive has had the time to say so since NATS was away.
	settled bool
}

// need returns how many members the work at hand calls for, if each computes so
// many requests at the same time.
func (f facts) need(l limits, slots int) int {
	slots = max(slots, 1)
	n := (f.working + f.waiting/max(l.perOne, 1) + slots - 1) / slots
	if n == 0 && f.waiting > 0 {
		n = 1
	}
	return min(n, l.max)
}

// A member of a pool, as it is kept.
type member struct {
	Name  string `json:"name"`
	Phase Phase  `json:"phase"`
	// Told: its runner was or will be told to drain, and has to be told
	// otherwise if it becomes active again.
	Told bool `json:"told,omitempty"`
}

// A plan is what is kept of a pool from one look to the next, and shared by all
// who look.
type plan struct {
	Members []member `json:"members,omitempty"` // by number
	Next    int      `json:"next"`              // number of the next member
	// Needed is when so many members were last needed: the first entry is for
	// one member.
	Needed []time.Time `json:"needed,omitempty"`
	// Slots is how many requests a member computed at the same time when one was
	// last seen, so that the pool does not start too many from zero; absent is 1.
	Slots int       `json:"slots,omitempty"`
	Grown time.Time `json:"grown,omitzero"`
	Short time.Time `json:"short,omitzero"` // since when there are too few
}

// begin is the plan of a new pool: the members that are always there are there
// at once.
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

// resume is the plan of a pool of which only the members are known. It takes
// the need of before to be that many.
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

// step is the plan that follows from what was seen. again is when to look once
// more without any news; zero means that there is no need to.
func (p plan) step(l limits, f facts, now time.Time) (next plan, again time.Time) {
	p.Members, p.Needed = slices.Clone(p.Members), slices.Clone(p.Needed)
	p.forget(f)
	if f.slots > 0 {
		p.Slots = f.slots
		if f.slots == 1 {
			p.Slots = 0 // as it was before members had slots
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

// forget drops the members that were drained and are gone.
func (p *plan) forget(f facts) {
	p.Members = slices.DeleteFunc(p.Members, func(m member) bool {
		return m.Phase == Drained && f.settled && !f.runners[m.Name].there
	})
}

// note keeps when how many members were needed.
func (p *plan) note(need int, now time.Time) {
	for len(p.Needed) < need {
		p.Needed = append(p.Needed, now)
	}
	for i := range need {
		p.Needed[i] = now
	}
}

// recent is how many members were needed in the last time of idleness, and when
// that will be fewer.
func (p *plan) recent(l limits, now time.Time) (n int, until time.Time) {
	for n < len(p.Needed) && now.Sub(p.Needed[n]) < l.idle {
		until = p.Needed[n].Add(l.idle)
		n++
	}
	p.Needed = p.Needed[:n]
	return n, until
}

// lasting is the part of the need that counts now, and when more of it will:
// beyond the first member, a need that has lasted for a while.
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

// scaleUp makes n more members active: first those that drain, since they are
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
// the youngest of each first.
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

// drain ends the draining of those that have nothing left and take nothing
// more. One without a runner has nothing.
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

// orders are what the runners have to be told: whether to drain, by member.
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

// earliest of several times, zero ones aside.
type earliest struct{ at time.Time }

func (e *earliest) add(at time.Time) {
	if !at.IsZero() && (e.at.IsZero() || at.Before(e.at)) {
		e.at = at
	}
}
