package dispatch

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"
)

// candidates returns two dispatchers that compete for leases. The leases do not
// expire during a test, even on a slow machine.
func candidates(t *testing.T) (*manager, *manager) {
	t.Helper()
	srv := natstest.Start(t)
	var both [2]*manager
	for i, name := range []string{"a", "b"} {
		b, err := bus.Connect(t.Context(), bus.Config{URL: srv.URL(), User: natstest.User, Password: natstest.Password})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		if err := b.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
		cfg := Config{Bus: b, Identity: name, LeaseTTL: time.Hour}
		if err := cfg.setDefaults(); err != nil {
			t.Fatal(err)
		}
		both[i] = newManager(cfg)
	}
	return both[0], both[1]
}

func TestLeases(t *testing.T) {
	a, b := candidates(t)
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	first, err := a.acquire(ctx, "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.acquire(ctx, "s", nil); !fault.Is(err, fault.Conflict) {
		t.Fatalf("a lease that is held: %v, want Conflict", err)
	}
	until := first.until
	r := first.renew(0)(ctx)
	if r.err != nil {
		t.Fatal(r.err)
	}
	first.apply(r)
	if !first.until.After(until) {
		t.Error("a renewal does not last longer")
	}

	// b takes over by comparing revisions, as it does when the lease is not renewed.
	value, revision, err := bus.Get[lease](ctx, b.cfg.Bus, names.LeasesBucket, "s")
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.acquire(ctx, "s", &observedLease{lease: value, revision: revision})
	if err != nil {
		t.Fatal(err)
	}
	if second.lease.Epoch <= first.lease.Epoch {
		t.Errorf("epochs %d, then %d: they must grow", first.lease.Epoch, second.lease.Epoch)
	}
	if r := first.renew(0)(ctx); !fault.Is(r.err, fault.Conflict) {
		t.Errorf("renewing a lease that was taken: %v, want Conflict", r.err)
	}

	// A renewal can also raise the epoch.
	newer := second.lease.Epoch + 1000
	r = second.renew(newer)(ctx)
	if r.err != nil || r.lease.Epoch != newer {
		t.Errorf("renewal = %+v, want epoch %d", r, newer)
	}
	second.apply(r)
	first.release() // has no effect any more
	if _, err := a.acquire(ctx, "s", nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("after the release of an old lease: %v, want Conflict", err)
	}
	second.release()
	if _, err := a.acquire(ctx, "s", nil); err != nil {
		t.Errorf("after the release of the lease: %v", err)
	}
}

// A lease that is not renewed expires, but not while its holder relies on it.
func TestLeasesExpire(t *testing.T) {
	a, b := candidates(t)
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	take := func(m *manager) *heldLease {
		m.cfg.LeaseTTL = time.Second
		for {
			lease, err := m.acquire(ctx, "s", nil)
			if err == nil {
				return lease
			}
			if ctx.Err() != nil { // each attempt has a limit of its own, which a slow machine may reach
				t.Fatal(err)
			}
		}
	}
	first := take(a)
	second := take(b)
	if time.Now().Before(first.until) {
		t.Error("a lease was free while its holder relied on it")
	}
	if second.lease.Epoch <= first.lease.Epoch {
		t.Errorf("epochs %d, then %d: they must grow", first.lease.Epoch, second.lease.Epoch)
	}
}

// On a machine that was suspended the wall clock advances and the monotonic one
// does not. Either suffices to end the lease.
func TestLasts(t *testing.T) {
	now := time.Now()
	until := now.Add(time.Second)
	if !lasts(until, now) {
		t.Error("a lease does not last until its end")
	}
	if lasts(until, now.Add(2*time.Second)) {
		t.Error("a lease lasts beyond its end")
	}
	slept := until.Round(0).Add(-time.Hour) // the wall clock alone says so
	if lasts(slept, now) {
		t.Error("a lease lasts beyond its end by the wall clock")
	}
}

// The time without a leader is at most the TTL of a lease that was renewed just
// before its holder was killed, plus the pause after an attempt that came too early.
func TestTakeoverIsBounded(t *testing.T) {
	const promised = 5 * time.Second // docs/background/guarantees.md
	var cfg Config
	cfg.Bus, cfg.Identity = new(bus.Bus), "a"
	if err := cfg.setDefaults(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	renewed := observedLease{at: now}
	if worst := renewed.left(cfg.LeaseTTL, now) + retryAfter(cfg.LeaseTTL); worst >= promised {
		t.Errorf("a takeover may last %v, want less than %v", worst, promised)
	}
	if left := renewed.left(cfg.LeaseTTL, now.Add(cfg.LeaseTTL)); left != 0 {
		t.Errorf("a lease that was not renewed lasts %v beyond its time", left)
	}
	// Two renewals may fail before the leader has to stop.
	if at, stop := 2*renewEvery(cfg.LeaseTTL), cfg.LeaseTTL-leaseMargin; at >= stop {
		t.Errorf("the third attempt at a renewal comes after %v, and the leadership ends after %v", at, stop)
	}
}

// An idle session that its leader gives up gets no other leader until it changes.
func TestIdleSessionsAreLeft(t *testing.T) {
	a, b := candidates(t)
	var running sync.WaitGroup
	defer func() { waittest.Returns(t, "both end", running.Wait) }()
	lead, leave := context.WithCancel(t.Context())
	defer leave()
	running.Go(func() { a.run(lead) })
	stop, cancel := context.WithCancel(t.Context())
	defer cancel()
	running.Go(func() { b.run(stop) })
	state := func(m *manager) (known, wanted bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		s := m.sessions["s"]
		return s != nil, s != nil && s.wanted.Load()
	}
	waittest.Until(t, "both have read the buckets", func() bool { return a.isSynced() && b.isSynced() })
	a.session("s")
	waittest.Until(t, "one dispatcher leads", func() bool { _, ok := b.observedLease("s"); return ok })
	first := b.lastEpoch("s")
	b.session("s")
	waittest.Until(t, "the other recognizes the leader", func() bool { _, wanted := state(b); return !wanted })
	leave()
	waittest.Until(t, "the session is given up", func() bool { known, _ := state(b); return !known })
	if epoch := b.lastEpoch("s"); epoch != first {
		t.Errorf("it was led again, by epoch %d after %d", epoch, first)
	}
	b.session("s")
	waittest.Until(t, "a dispatcher leads when the session has changed", func() bool { return b.lastEpoch("s") > first })
}
