package policy

import (
	"slices"
	"time"
)

// park lets others pass a job until its patience ends.
func (q *Queue) park(e *entry) {
	q.leave(e)
	e.parked = true
	q.parked.add(e)
	e.tenant.parked++
	// Without a conversation it waits for any runner that has not failed it.
	a := e.job.Affinity
	q.waiting[a] = append(q.waiting[a], e)
}

// unpark takes a job out of the parked ones.
func (q *Queue) unpark(e *entry) {
	e.parked = false
	q.parked.remove(e)
	e.tenant.parked--
	a := e.job.Affinity
	if i := slices.Index(q.waiting[a], e); i >= 0 {
		q.waiting[a] = slices.Delete(q.waiting[a], i, i+1)
	}
	if len(q.waiting[a]) == 0 {
		delete(q.waiting, a)
	}
}

// wake returns the jobs whose patience has ended to their tenants.
func (q *Queue) wake(now time.Time) {
	for {
		e, ok := q.parked.top()
		if !ok || now.Before(e.job.Since.Add(q.patience)) {
			return
		}
		q.unpark(e)
		q.enter(e)
	}
}

// wakeOne returns the first job that waits for a runner of a conversation, or of
// none, and that a slot serves.
func (q *Queue) wakeOne(affinity string, s Slot) {
	jobs := q.waiting[affinity]
	if i := slices.IndexFunc(jobs, func(e *entry) bool { return s.serves(e.job.need()) }); i >= 0 {
		e := jobs[i]
		q.unpark(e)
		q.enter(e)
	}
}
