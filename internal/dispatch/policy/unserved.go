package policy

import "github.com/gorizond/koldun/internal/openai"

// unserved holds the jobs that wait for an idle slot that serves their
// operation, by operation and by tenant, in the order of the tenant's jobs. They
// have no time to wake: only a slot changes their state, or their deadline.
type unserved map[openai.Operation]map[*tenant]*index[*entry]

// add adds a job that has left its tenant.
func (u unserved) add(e *entry) {
	tenants := u[e.job.Operation]
	if tenants == nil {
		tenants = map[*tenant]*index[*entry]{}
		u[e.job.Operation] = tenants
	}
	jobs := tenants[e.tenant]
	if jobs == nil {
		jobs = newJobs()
		tenants[e.tenant] = jobs
	}
	jobs.add(e)
	e.unserved = true
	e.tenant.parked++
}

func (u unserved) remove(e *entry) {
	e.unserved = false
	e.tenant.parked--
	tenants := u[e.job.Operation]
	jobs := tenants[e.tenant]
	jobs.remove(e)
	if jobs.Len() > 0 {
		return
	}
	delete(tenants, e.tenant)
	if len(tenants) == 0 {
		delete(u, e.job.Operation)
	}
}

// wakeServed returns to their tenants jobs whose operation an idle slot serves
// again: the first one of each tenant, so that the next one is chosen among
// tenants as ever, and a slot does not move all jobs that wait for it.
func (q *Queue) wakeServed() {
	for op, tenants := range q.unserved {
		if !q.slots.serves(op) {
			continue
		}
		for _, jobs := range tenants {
			e, _ := jobs.top()
			q.unserved.remove(e)
			q.enter(e)
		}
	}
}
