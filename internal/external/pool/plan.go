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

// A member is the stored state of a member.
type member struct {
	Name  string `json:"name"`
	Phase Phase  `json:"phase"`
	// DrainOrdered means that its runner has or will get a drain order, which must
	// be revoked if the member becomes active again.
	DrainOrdered bool `json:"told,omitempty"`
}

// A plan is the stored state of a pool, which all observers share.
type plan struct {
	Members []member `json:"members,omitempty"` // by number
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

// newPlan returns the plan of a new pool with its minimum members.
func newPlan(l limits, now time.Time) plan {
	var p plan
	for range l.min {
		p.add()
	}
	if l.min > 0 {
		p.GrownAt = now
	}
	return p
}

// recoverPlan returns the plan of a pool of which only the members are known. It
// assumes that all of them were needed.
func recoverPlan(members []member, next int, now time.Time) plan {
	p := plan{Members: slices.Clone(members), Next: next, GrownAt: now}
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

func (p *plan) add() {
	p.Members = append(p.Members, member{Name: strconv.Itoa(p.Next), Phase: Active})
	p.Next++
}

func (p *plan) active() (n int) {
	for _, m := range p.Members {
		if m.Phase == Active {
			n++
		}
	}
	return n
}

// orders returns whether to drain each runner, by member.
func (p *plan) orders(s poolState) map[string]bool {
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

// byNumber orders members by number, and names that are no numbers by name.
func byNumber(a, b member) int {
	x, _ := strconv.Atoi(a.Name)
	y, _ := strconv.Atoi(b.Name)
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.Name, b.Name))
}
