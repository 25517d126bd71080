package serving_test

import (
	"context"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// TestLeakedCredentialsAreRevoked revokes the credentials of all processes under load,
// after their files have newer ones. A thief with copies of the files is thrown out;
// the processes go on without a restart, and no request may notice.
func TestLeakedCredentialsAreRevoked(t *testing.T) {
	t.Parallel()
	tenants := []history.Tenant{history.NewTenant("amber")}
	s := newStack(t, plan{gateways: 1, dispatchers: 2, runners: 2, tenants: tenants, lives: time.Hour})
	var thieves []*bus.Bus
	var stolen []bus.Config
	for _, u := range s.logins.users {
		stolen = append(stolen, s.broker.busConfig(u.User))
		thieves = append(thieves, s.broker.connect(u.User))
	}
	h := &history.History{}
	ctx, stop := context.WithCancel(t.Context())
	w := newWorkload(s, tenants)
	w.start(ctx, 4)
	leaked := time.Now()
	waittest.Until(t, "the next second", func() bool { return time.Now().Unix() > leaked.Unix() })
	s.logins.renew(time.Hour)
	natstest.Revoke(t, natstest.Manager(t, s.broker.natsURL, s.broker.authority), s.broker.authority, s.broker.account.ID, leaked)
	for i, thief := range thieves {
		waittest.Until(t, "the server to refuse a thief", func() bool { return fault.Is(thief.Lost(), fault.Denied) })
		if b, err := bus.Connect(waittest.Context(t), stolen[i]); !fault.Is(err, fault.Denied) {
			t.Errorf("stolen credentials connect: %v, %v", b, err)
		}
	}
	stop()
	w.wait(h)
	s.collect(t, h)
	var longest time.Duration
	for _, e := range h.Entries {
		longest = max(longest, e.Ended.Sub(e.Invoked))
		if e.Verdict != history.OK && e.Verdict != history.Disconnected {
			t.Errorf("request %s: %s, status %d, %q", e.ID, e.Verdict, e.Status, e.Code)
		}
	}
	t.Logf("%d requests, the longest took %v", len(h.Entries), longest)
	h.Verify(t, history.EndsOnce, history.OneGeneration, history.NothingLost, history.TenantsIsolated)
	for _, p := range s.processes.all {
		if !p.ran() {
			t.Errorf("process %s has ended", p.name)
		}
	}
}
