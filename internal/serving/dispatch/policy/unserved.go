package policy

// unserved holds the jobs that wait for an idle slot that serves them, by their
// need and by tenant, in the order of the tenant's jobs. They have no
// wake-up time: they wait for a slot or for their deadline.
type unserved map[need]map[*tenant]*index[*entry]

// add adds a job that has left its tenant.
func (u unserved) add(e *entry) {
	tenants := u[e.job.need()]
	if tenants == nil {
		tenants = map[*tenant]*index[*entry]{}
		u[e.job.need()] = tenants
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
	tenants := u[e.job.need()]
	jobs := tenants[e.tenant]
	jobs.remove(e)
	if jobs.Len() > 0 {
		return
	}
	delete(tenants, e.tenant)
	if len(tenants) == 0 {
		delete(u, e.job.need())
	}
}

// wakeServed returns to their tenants jobs that an idle slot serves again: the
// first one of each tenant, so that the next one is chosen among tenants as usual,
// and a slot does not move all jobs that wait for it.
func (q *Queue) wakeServed() {
	for n, tenants := range q.unserved {
		if !q.slots.groups.serves(n) {
			continue
		}
		for _, jobs := range tenants {
			e, _ := jobs.top()
			q.unserved.remove(e)
			q.enter(e)
		}
	}
}
