package policy

import (
	"cmp"
	"slices"
	"time"
)

// A Queue holds the jobs of one session and the slots of its runners. It belongs to one goroutine.
type Queue struct {
	patience time.Duration
	entries  map[string]*entry
	tenants  map[seat]*tenant
	bands    [classes]*band
	parked   index[*entry] // jobs that let others pass, first to wake first
	waiting  map[string][]*entry
	unserved unserved
	deadline index[*entry]
	slots    *slots
	floor    float64 // tokens by share of the class that was served last
}

// New makes an empty queue. patience is how long a job waits for a better
// runner than there is idle.
func New(patience time.Duration) *Queue {
	q := &Queue{
		patience: patience,
		entries:  map[string]*entry{},
		tenants:  map[seat]*tenant{},
		waiting:  map[string][]*entry{},
		unserved: unserved{},
		slots:    newSlots(),
	}
	for c := range q.bands {
		q.bands[c] = newBand(Class(c))
	}
	q.parked = index[*entry]{
		compare: func(a, b *entry) int { return a.job.Since.Compare(b.job.Since) },
		place:   func(e *entry) *int { return &e.inParked },
	}
	q.deadline = index[*entry]{compare: byDeadline, place: func(e *entry) *int { return &e.inDeadlines }}
	return q
}

// Len is the number of jobs.
func (q *Queue) Len() int { return len(q.entries) }

// Slots is the number of slots that take jobs, now or when they are idle.
func (q *Queue) Slots() int { return q.slots.groups.size() }

// Add queues a job; one of the same id takes the place of the older.
func (q *Queue) Add(j Job) {
	q.Remove(j.ID)
	j.Cost = max(j.Cost, 1)
	j.Class = min(max(j.Class, High), Low)
	e := &entry{job: j, tenant: q.tenant(j.Class, j.Tenant)}
	q.entries[j.ID] = e
	q.deadline.add(e)
	q.enter(e)
}

// Remove takes a job out, and reports whether it was there.
func (q *Queue) Remove(id string) bool {
	e := q.entries[id]
	if e == nil {
		return false
	}
	delete(q.entries, id)
	q.deadline.remove(e)
	switch {
	case e.parked:
		q.unpark(e)
	case e.unserved:
		q.unserved.remove(e)
	default:
		q.leave(e)
	}
	return true
}

// SetGroup sets weight and fallback of a group until the last of its slots is
// removed. Set a slot of it next.
func (q *Queue) SetGroup(g Group) { q.slots.groups.describe(g) }

// SetSlot adds a slot or changes it.
func (q *Queue) SetSlot(s Slot) {
	q.slots.set(s)
	if !s.Idle {
		return
	}
	q.wakeOne("", s)
	if s.Affinity != "" {
		q.wakeOne(s.Affinity, s)
	}
}

// RemoveRunner forgets all slots of a runner.
func (q *Queue) RemoveRunner(name string) { q.slots.remove(name) }

// Next takes out the job that goes next, and returns its slot, which counts as
// busy from now on. ok is false if nothing can go now.
func (q *Queue) Next(now time.Time) (j Job, to Slot, ok bool) {
	q.wake(now)
	for q.slots.groups.usable() {
		q.wakeServed()
		t := q.next()
		if t == nil {
			return Job{}, Slot{}, false
		}
		e := t.jobs.items[0]
		if !q.slots.groups.serves(e.job.need()) {
			q.leave(e)
			q.unserved.add(e)
			continue
		}
		m := q.choose(e.job, now)
		if m == nil {
			q.park(e)
			continue
		}
		q.Remove(e.job.ID)
		q.serve(t, e.job.Cost)
		to := m.Slot
		to.Idle = false
		to.Affinity = e.job.Affinity
		q.slots.set(to)
		return e.job, to, true
	}
	return Job{}, Slot{}, false
}

// choose returns an idle slot for a job, or nil if the job should rather wait. An
// idle slot serves its operation.
func (q *Queue) choose(j Job, now time.Time) *slot {
	m, busy := q.slots.holder(j)
	if m != nil {
		return m
	}
	patient := now.Before(j.Since.Add(q.patience))
	if busy && patient {
		return nil
	}
	if m := q.slots.groups.choose(j); m != nil {
		return m
	}
	if patient { // only runners that failed it are idle: give them time, too
		return nil
	}
	j.Avoid, j.AvoidGroups = nil, nil
	return q.slots.groups.choose(j)
}

// Charge books tokens on a tenant of a class, beyond the expected cost that
// Next books; a negative number gives some back.
func (q *Queue) Charge(class Class, tenant string, tokens int) {
	if t := q.tenants[seat{class, tenant}]; t != nil {
		q.charge(t, tokens)
	}
}

// Expired takes out the jobs whose deadline is not after now.
func (q *Queue) Expired(now time.Time) []Job {
	var out []Job
	for {
		e, ok := q.deadline.top()
		if !ok || e.job.Deadline.After(now) {
			return out
		}
		q.Remove(e.job.ID)
		out = append(out, e.job)
	}
}

// Wake is when to ask again although nothing has changed: a job's patience or
// its deadline ends. It is zero if there is no such time. Jobs that wait for a
// slot that serves their operation have only their deadline.
func (q *Queue) Wake() time.Time {
	var at time.Time
	if e, ok := q.deadline.top(); ok {
		at = e.job.Deadline
	}
	if e, ok := q.parked.top(); ok {
		if wake := e.job.Since.Add(q.patience); at.IsZero() || wake.Before(at) {
			at = wake
		}
	}
	return at
}

// Positions calls f for each job, by class and in order of arrival, with the
// number of jobs before it: what people expect of a queue, and an estimate.
func (q *Queue) Positions(f func(id string, ahead int)) {
	all := make([]*entry, 0, len(q.entries))
	for _, e := range q.entries {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.job.Class, b.job.Class), cmp.Compare(a.job.Order, b.job.Order))
	})
	for i, e := range all {
		f(e.job.ID, i)
	}
}
