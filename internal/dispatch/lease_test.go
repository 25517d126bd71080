package dispatch

import (
	"context"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// candidates are two dispatchers that compete for leases of one second.
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
		cfg := Config{Bus: b, Identity: name, LeaseTTL: time.Second}
		if err := cfg.setDefaults(); err != nil {
			t.Fatal(err)
		}
		both[i] = newManager(cfg)
	}
	return both[0], both[1]
}

func TestLeases(t *testing.T) {
	a, b := candidates(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
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

	// b takes over by comparing revisions, as it does when nobody renews.
	value, revision, err := bus.Get[lease](ctx, b.cfg.Bus, names.LeasesBucket, "s")
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.acquire(ctx, "s", &seenLease{lease: value, revision: revision})
	if err != nil {
		t.Fatal(err)
	}
	if second.lease.Epoch <= first.lease.Epoch {
		t.Errorf("epochs %d, then %d: they must grow", first.lease.Epoch, second.lease.Epoch)
	}
	if r := first.renew(0)(ctx); !fault.Is(r.err, fault.Conflict) {
		t.Errorf("renewing a lease that was taken: %v, want Conflict", r.err)
	}

	// Who asks for a newer epoch gets it with the renewal.
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
	third, err := a.acquire(ctx, "s", nil)
	if err != nil {
		t.Fatal(err)
	}

	// A lease that nobody renews expires.
	for {
		fourth, err := b.acquire(ctx, "s", nil)
		if err == nil {
			if fourth.lease.Epoch <= third.lease.Epoch {
				t.Errorf("epochs %d, then %d: they must grow", third.lease.Epoch, fourth.lease.Epoch)
			}
			if time.Now().Before(third.until) {
				t.Error("a lease was free while its holder relied on it")
			}
			return
		}
		if !fault.Is(err, fault.Conflict) {
			t.Fatal(err)
		}
	}
}
