// Package policy decides which request goes next, and to which slot of which
// runner. It is pure: it knows neither clock nor network, and its decisions
// depend on its input only.
//
// The rules, in order:
//
//   - Between classes of priority, each gets its share of the tokens served
//     while jobs of it wait: an urgent one by far the most, none nothing.
//   - Between tenants of a class, the one that was served the fewest tokens goes
//     first. One that comes back after a pause starts level with the others, so
//     no tenant can save up a right to be served, and every tenant gets its turn.
//   - Within a tenant, the earliest deadline goes first, then the earliest
//     arrival. Each job has a deadline, so none waits for ever behind newer ones.
//   - A job goes to the slot whose prompt cache holds its conversation. If
//     that one is busy, the job lets others pass for a short while, and then goes
//     anywhere: to the runner with the fewest busy slots, and there to the slot
//     whose cache is worth the least.
//   - A job that a runner failed goes to another one, or after a while to the
//     same again. One of another group goes first, if it is idle.
//   - Groups of runners share the jobs that have no slot with their conversation,
//     by weight among those with an idle slot. A group of weight 0 takes none, and a
//     fallback only what no other group could serve, now or later.
//   - A job goes only to a slot that serves its operation with the features that it
//     needs. While no such slot is idle, it lets others pass.
package policy

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/openai"
)

// A Job is a request that waits.
type Job struct {
	ID       string
	Tenant   string
	Class    Class
	Affinity string    // conversation; "" for none
	Order    uint64    // of arrival
	Since    time.Time // waiting since
	Deadline time.Time // gone after it; never zero
	Cost     int       // expected tokens, at least 1
	Avoid    []string  // runners that have failed it
	// AvoidGroups are the groups of those runners.
	AvoidGroups []string

	// Operation must be one of the slot's; "" is one that every slot serves.
	Operation openai.Operation
	// Features must all be among the slot's.
	Features openai.Features
}

// A need is what a job asks of a slot.
type need struct {
	operation openai.Operation
	features  openai.Features
}

func (j Job) need() need { return need{j.Operation, j.Features} }

// A Slot is one of the requests that a runner computes at the same time. It can
// be given a job, now or when it has finished.
type Slot struct {
	Runner   string
	Group    string // of the runner
	Number   int    // of the slot, unique for the runner
	Affinity string // conversation in its prompt cache; "" for none
	Idle     bool

	// Operations are those that the runner serves. The slot keeps the slice, so it
	// must not change.
	Operations []openai.Operation
	// Features are those that the runner offers.
	Features openai.Features
}

// serves reports whether the slot can be given a job.
func (s Slot) serves(n need) bool {
	return (n.operation == "" || slices.Contains(s.Operations, n.operation)) && s.Features.Include(n.features)
}

// needs yields the most that the slot serves of each operation.
func (s Slot) needs() iter.Seq[need] {
	return func(yield func(need) bool) {
		if !yield(need{features: s.Features}) {
			return
		}
		for _, op := range s.Operations {
			if !yield(need{op, s.Features}) {
				return
			}
		}
	}
}

func (s Slot) equal(o Slot) bool {
	return s.Runner == o.Runner && s.Group == o.Group && s.Number == o.Number && s.Affinity == o.Affinity && s.Idle == o.Idle &&
		s.Features == o.Features && slices.Equal(s.Operations, o.Operations)
}

// byDeadline orders the jobs of one tenant.
func byDeadline(a, b *entry) int {
	if c := a.job.Deadline.Compare(b.job.Deadline); c != 0 {
		return c
	}
	return cmp.Compare(a.job.Order, b.job.Order)
}
