package policy

// A tenant has jobs in the queue, or had some lately.
type tenant struct {
	name   string
	served float64 // tokens, on a scale that only grows
	jobs   index[*entry]
	place  int // among the tenants whose turn may come, -1 when not there
	parked int // jobs that let others pass
}

// maxIdleTenants bounds how many tenants without jobs are remembered.
const maxIdleTenants = 4096

func newTenant(name string) *tenant {
	return &tenant{
		name:  name,
		place: -1,
		jobs:  index[*entry]{less: before, slot: func(e *entry) *int { return &e.inTenant }},
	}
}

// fewerServed orders the tenants; their names make the order total.
func fewerServed(a, b *tenant) bool {
	if a.served != b.served {
		return a.served < b.served
	}
	return a.jobs.items[0].job.Order < b.jobs.items[0].job.Order
}

func (q *Queue) tenant(name string) *tenant {
	t := q.tenants[name]
	if t == nil {
		q.forgetTenants()
		t = newTenant(name)
		q.tenants[name] = t
	}
	return t
}

// enter makes a job of a tenant eligible.
func (q *Queue) enter(e *entry) {
	t := e.tenant
	t.jobs.add(e)
	if t.place < 0 {
		// Whoever comes back starts level with those who are here.
		t.served = max(t.served, q.floor)
		q.turns.add(t)
		return
	}
	q.turns.fix(t)
}

// leave makes a job of a tenant not eligible.
func (q *Queue) leave(e *entry) {
	t := e.tenant
	if t.jobs.Len() == 1 {
		q.turns.remove(t) // while it still has a job to compare by
		t.jobs.remove(e)
		return
	}
	t.jobs.remove(e)
	q.turns.fix(t)
}

// charge books tokens on a tenant; a negative number gives some back.
func (q *Queue) charge(t *tenant, tokens int) {
	t.served += float64(tokens)
	if t.place >= 0 {
		q.turns.fix(t)
	}
}

// forgetTenants drops tenants that have no jobs and no debt.
func (q *Queue) forgetTenants() {
	if len(q.tenants) < maxIdleTenants+2*len(q.entries) {
		return
	}
	for name, t := range q.tenants {
		if t.place < 0 && t.parked == 0 && t.served <= q.floor {
			delete(q.tenants, name)
		}
	}
}
