package policy

import "cmp"

// A tenant has jobs of a class in the queue, or had some lately.
type tenant struct {
	name   string
	band   *band
	served float64 // tokens, on a scale that only grows
	jobs   *index[*entry]
	place  int // among the tenants whose turn may come, -1 when not there
	parked int // jobs that let others pass, until their patience ends or a slot serves them
}

// A seat is a tenant in a class.
type seat struct {
	class Class
	name  string
}

// maxIdleTenants bounds how many tenants without jobs are remembered.
const maxIdleTenants = 4096

func newTenant(name string, b *band) *tenant {
	return &tenant{
		name:  name,
		band:  b,
		place: -1,
		jobs:  newJobs(),
	}
}

// newJobs makes a heap of jobs of one tenant.
func newJobs() *index[*entry] {
	return &index[*entry]{compare: byDeadline, place: func(e *entry) *int { return &e.inTenant }}
}

// byServed orders the tenants of a class, first by tokens, then by arrival.
func byServed(a, b *tenant) int {
	if c := cmp.Compare(a.served, b.served); c != 0 {
		return c
	}
	return cmp.Compare(a.jobs.items[0].job.Order, b.jobs.items[0].job.Order)
}

func (q *Queue) tenant(class Class, name string) *tenant {
	t := q.tenants[seat{class, name}]
	if t == nil {
		q.forgetTenants()
		t = newTenant(name, q.bands[class])
		q.tenants[seat{class, name}] = t
	}
	return t
}

// enter makes a job of a tenant eligible. A tenant or class without eligible jobs
// starts level with the one that was served last.
func (q *Queue) enter(e *entry) {
	t := e.tenant
	b := t.band
	t.jobs.add(e)
	if t.place >= 0 {
		b.turns.fix(t)
		return
	}
	if b.turns.Len() == 0 {
		b.served = max(b.served, q.floor)
	}
	t.served = max(t.served, b.floor)
	b.turns.add(t)
}

// leave makes a job of a tenant ineligible.
func (q *Queue) leave(e *entry) {
	t := e.tenant
	if t.jobs.Len() == 1 {
		t.band.turns.remove(t) // while it still has a job to compare by
		t.jobs.remove(e)
		return
	}
	t.jobs.remove(e)
	t.band.turns.fix(t)
}

// forgetTenants drops tenants that have no jobs and no debt.
func (q *Queue) forgetTenants() {
	if len(q.tenants) < maxIdleTenants+2*len(q.entries) {
		return
	}
	for at, t := range q.tenants {
		if t.place < 0 && t.parked == 0 && t.served <= t.band.floor {
			delete(q.tenants, at)
		}
	}
}
