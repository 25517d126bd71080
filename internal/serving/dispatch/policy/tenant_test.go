package policy

import (
	"fmt"
	"testing"
	"time"
)

// addIdleTenants adds tenants until the queue has n, none of them with a job.
func addIdleTenants(q *Queue, n int) {
	for i := 0; len(q.tenants) < n; i++ {
		name := fmt.Sprintf("idle%d", i)
		q.Add(Job{ID: name, Tenant: name, Deadline: time.Unix(2000, 0)})
		q.Remove(name)
	}
}

// The queue forgets a tenant only if that changes no later decision.
func TestForgetTenants(t *testing.T) {
	now := time.Unix(1000, 0)
	job := Job{ID: "a", Tenant: "t", Affinity: "chat", Since: now, Deadline: now.Add(time.Hour), Cost: 10}
	park := func(q *Queue) {
		q.Add(job)
		q.SetSlot(Slot{Runner: "r1", Affinity: "chat"})
		q.SetSlot(Slot{Runner: "r2", Idle: true})
		q.Next(now)
	}
	unserved := func(q *Queue) {
		other := job
		other.Operation = "embedding"
		q.Add(other)
		q.SetSlot(Slot{Runner: "r1", Idle: true})
		q.Next(now)
	}
	serve := func(q *Queue) {
		q.Add(job)
		q.SetSlot(Slot{Runner: "r1", Idle: true})
		q.Next(now)
	}
	for name, c := range map[string]struct {
		set  func(q *Queue)
		kept bool
	}{
		"Waiting":            {func(q *Queue) { q.Add(job) }, true},
		"Removed":            {func(q *Queue) { q.Add(job); q.Remove("a") }, false},
		"Parked":             {park, true},
		"ParkedAndRemoved":   {func(q *Queue) { park(q); q.Remove("a") }, false},
		"Unserved":           {unserved, true},
		"UnservedAndRemoved": {func(q *Queue) { unserved(q); q.Remove("a") }, false},
		"ServedMost":         {serve, true},
		"ServedAsMuch":       {func(q *Queue) { serve(q); q.Charge(High, "t", -10) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			q := New(time.Second)
			c.set(q)
			addIdleTenants(q, maxIdleTenants+2*q.Len())
			q.forgetTenants()
			if _, kept := q.tenants[seat{High, "t"}]; kept != c.kept {
				t.Errorf("the tenant is kept: %t, want %t", kept, c.kept)
			}
			if c.kept != (len(q.tenants) == 1) {
				t.Errorf("%d tenants are left", len(q.tenants))
			}
			if q.Len() == 0 && len(q.waiting) > 0 {
				t.Errorf("the empty queue has waiting jobs: %v", q.waiting)
			}
			if q.Len() == 0 && len(q.unserved) > 0 {
				t.Errorf("the empty queue has unserved jobs: %v", q.unserved)
			}
		})
	}
}

// The number of tenants without jobs is bounded, and with it the work to find them.
func TestTenantsAreForgottenAtTheLimit(t *testing.T) {
	q := New(time.Second)
	q.Add(Job{ID: "a", Tenant: "t", Deadline: time.Unix(2000, 0)})
	limit := maxIdleTenants + 2
	addIdleTenants(q, limit)
	if len(q.tenants) != limit {
		t.Fatalf("%d tenants, want %d", len(q.tenants), limit)
	}
	q.Add(Job{ID: "b", Tenant: "u", Deadline: time.Unix(2000, 0)})
	if len(q.tenants) != 2 {
		t.Errorf("%d tenants after the limit, want the 2 with jobs", len(q.tenants))
	}
}
