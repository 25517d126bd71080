package serving_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// TestStoreIsRolledBack restores an older copy of the store of NATS under load, twice,
// as a restored snapshot or a lost tail does. All other processes go on. Requests that the
// restored store holds, and those that are accepted afterwards, end exactly once. Those
// that it has lost may have no outcome, but their clients do not wait for ever.
func TestStoreIsRolledBack(t *testing.T) {
	t.Parallel()
	tenants := []history.Tenant{history.NewTenant("amber"), history.NewTenant("birch")}
	s := newStack(t, plan{gateways: 2, dispatchers: 2, runners: 2, tenants: tenants})
	h := &history.History{}
	ctx, stop := context.WithCancel(t.Context())
	w := newWorkload(s, tenants)
	w.start(ctx, 8) // more than there are slots, so that the store always holds some
	more := func(when string) {
		t.Helper()
		before := w.count()
		waittest.Until(t, "requests to be answered "+when, func() bool { return w.count() >= before+40 })
	}
	more("before the copy")
	store, copied := s.dir+"/nats", t.TempDir()
	h.Disturb(false, func() {
		s.broker.process.halt()
		copyStore(t, store, copied)
		s.broker.process.start()
	})
	var held map[string]bool
	var since time.Time
	for range 2 {
		more("that the store loses")
		since = time.Now()
		h.Disturb(false, func() {
			s.broker.proxy.Stall() // until the test knows what the store holds
			s.broker.process.halt()
			if err := os.RemoveAll(store); err != nil {
				t.Fatal(err)
			}
			copyStore(t, copied, store)
			s.broker.process.start()
			held = s.holds(t)
			s.broker.proxy.Resume()
		})
	}
	more("by the restored store")
	stop()
	w.wait(h)
	s.collect(t, h)
	lost := 0
	h.Entries = slices.DeleteFunc(h.Entries, func(e history.Entry) bool {
		known := held[e.ID] || len(h.Outcomes[e.ID]) > 0 || e.Invoked.After(since)
		if !known {
			lost++
			if e.Verdict == history.Broken {
				t.Errorf("the client of the lost request %s got no end within %v\n%s", e.ID, e.Ended.Sub(e.Invoked), s.processes.logLines(e.ID))
			}
		}
		return !known
	})
	for id := range held {
		if len(h.Outcomes[id]) != 1 {
			t.Errorf("request %s of the restored store has %d outcomes", id, len(h.Outcomes[id]))
		}
	}
	t.Logf("the restored store held %d requests and had lost %d; %d others", len(held), lost, len(h.Entries))
	if len(held) == 0 || lost == 0 {
		t.Error("the copy was not older than the store, or held nothing")
	}
	h.Verify(t, history.EndsOnce, history.OneGeneration, history.NothingLost, history.TenantsIsolated)
}

func copyStore(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// holds returns the ids of the requests in the store that have not ended.
func (s *stack) holds(t *testing.T) map[string]bool {
	t.Helper()
	b := s.broker.bus()
	defer b.Close()
	ids := map[string]bool{}
	waittest.Until(t, "the requests of the store", func() bool {
		clear(ids)
		return queue.New(b).OpenRequests(waittest.Attempt(t), "*", func(r queue.OpenRequest) bool {
			ids[r.ID] = true
			return true
		}) == nil
	})
	return ids
}
