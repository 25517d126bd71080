package constrain

import (
	"context"
	"slices"
	"sync"
)

// turns lets one holder at a time go on. Tenants that wait take turns, so that one with
// many requests delays another by one of them. The zero value is ready for use.
type turns struct {
	mu      sync.Mutex
	held    bool
	tenants []waitingTenant // the next first
}

// A waitingTenant has requests that wait, the next first.
type waitingTenant struct {
	name     string
	requests []chan struct{}
}

// take waits for the turn of a tenant. It returns false if ctx ends before.
func (t *turns) take(ctx context.Context, tenant string) bool {
	t.mu.Lock()
	if !t.held {
		t.held = true
		t.mu.Unlock()
		return true
	}
	turn := make(chan struct{})
	i := slices.IndexFunc(t.tenants, func(w waitingTenant) bool { return w.name == tenant })
	if i < 0 {
		i = len(t.tenants)
		t.tenants = append(t.tenants, waitingTenant{name: tenant})
	}
	t.tenants[i].requests = append(t.tenants[i].requests, turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return true
	case <-ctx.Done():
	}
	if !t.withdraw(tenant, turn) { // the turn has come
		t.leave()
	}
	return false
}

// withdraw takes a request out of the line. It reports whether it waited.
func (t *turns) withdraw(tenant string, turn chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.tenants {
		w := &t.tenants[i]
		at := slices.Index(w.requests, turn)
		if w.name != tenant || at < 0 {
			continue
		}
		if w.requests = slices.Delete(w.requests, at, at+1); len(w.requests) == 0 {
			t.tenants = slices.Delete(t.tenants, i, i+1)
		}
		return true
	}
	return false
}

// leave gives the turn to the next one.
func (t *turns) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.tenants) == 0 {
		t.held = false
		return
	}
	next := t.tenants[0]
	t.tenants = slices.Delete(t.tenants, 0, 1)
	close(next.requests[0])
	if next.requests = next.requests[1:]; len(next.requests) > 0 {
		t.tenants = append(t.tenants, next)
	}
}
