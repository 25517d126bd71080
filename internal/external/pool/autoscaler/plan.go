package autoscaler

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

// A Member is the stored state of a member.
type Member struct {
	Name  string `json:"name"`
	Phase Phase  `json:"phase"`
	// DrainOrdered means that its runner has or will get a drain order, which must
	// be revoked if the member becomes active again.
	DrainOrdered bool `json:"told,omitempty"`
}

// A Plan is the stored state of a pool, which all observers share.
type Plan struct {
	Members []Member `json:"members,omitempty"` // by number
	Next    int      `json:"next"`              // number of the next member
	// NeededAt holds when each number of members was last needed; the first entry
	// is for one member.
	NeededAt []time.Time `json:"needed,omitempty"`
	// Slots is the last known number of slots of a member, so that the pool does
	// not start too many from zero; absent is 1.
	Slots        int       `json:"slots,omitempty"`
	GrownAt      time.Time `json:"grown,omitzero"`
	MissingSince time.Time `json:"short,omitzero"` // since when members are missing
}

// NewPlan returns the plan of a new pool with its minimum members.
func NewPlan(l Limits, now time.Time) Plan {
	var p Plan
	for range l.min {
		p.add()
	}
	if l.min > 0 {
		p.GrownAt = now
	}
	return p
}

// RecoverPlan returns the plan of a pool of which only the members are known. It
// assumes that all of them were needed.
func RecoverPlan(members []Member, next int, now time.Time) Plan {
	p := Plan{Members: slices.Clone(members), Next: next, GrownAt: now}
	slices.SortFunc(p.Members, byNumber)
	for _, m := range p.Members {
		if n, err := strconv.Atoi(m.Name); err == nil {
			p.Next = max(p.Next, n+1)
		}
		if m.Phase == Active {
			p.NeededAt = append(p.NeededAt, now)
		}
	}
	return p
}

func (p *Plan) add() {
	p.Members = append(p.Members, Member{Name: strconv.Itoa(p.Next), Phase: Active})
	p.Next++
}

func (p *Plan) active() (n int) {
	for _, m := range p.Members {
		if m.Phase == Active {
			n++
		}
	}
	return n
}

// Orders returns whether to drain each runner, by member.
func (p *Plan) Orders(s State) map[string]bool {
	out := map[string]bool{}
	for _, m := range p.Members {
		r := s.runners[m.Name]
		drain := m.Phase != Active
		if m.DrainOrdered && r.exists && r.draining != drain {
			out[m.Name] = drain
		}
	}
	return out
}

// pollInterval is the maximum time to the next step while requests wait or members
// drain, which can change the pool without an event.
const pollInterval = 5 * time.Second

// NextStep returns when to step without an event. again is the time from Step; zero
// means never, as in the result.
func (p *Plan) NextStep(s State, again, now time.Time) time.Time {
	next := Earliest{again}
	if s.waiting > 0 || p.active() < len(p.Members) {
		next.Add(now.Add(pollInterval))
	}
	return next.At
}

// byNumber orders members by number, and names that are no numbers by name.
func byNumber(a, b Member) int {
	x, _ := strconv.Atoi(a.Name)
	y, _ := strconv.Atoi(b.Name)
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.Name, b.Name))
}
