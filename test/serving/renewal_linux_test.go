package serving_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// TestCredentialsEndAndAreRenewed runs all processes with credentials of ten seconds, which
// are renewed again and again under load, for longer than the first ones last. No request may
// notice. A busy machine delays renewals by seconds, which must not let credentials end.
func TestCredentialsEndAndAreRenewed(t *testing.T) {
	t.Parallel()
	const lives, every, renewals = 10 * time.Second, time.Second, 12
	tenants := []history.Tenant{history.NewTenant("amber"), history.NewTenant("birch")}
	s := newStack(t, plan{gateways: 1, dispatchers: 2, runners: 2, tenants: tenants, lives: time.Hour})
	h := &history.History{}
	ctx, stop := context.WithCancel(t.Context())
	w := newWorkload(s, tenants)
	w.start(ctx, 4)
	again := time.NewTicker(every)
	defer again.Stop()
	waittest.Until(t, "the gateway to have renewed its credentials", func() bool {
		<-again.C
		s.logins.renew(lives)
		n, _ := strconv.Atoi(metric(t, s.gatewayHealth[0], "koldun_nats_credential_renewals_total"))
		return n >= renewals
	})
	s.logins.renew(time.Hour)
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
	for _, addr := range append(s.gatewayHealth, s.health...) {
		if n := metric(t, addr, "koldun_nats_permission_violations_total"); n != "0" {
			t.Errorf("NATS refused %q messages of the process with health on %s", n, addr)
		}
	}
	h.Verify(t, history.EndsOnce, history.OneGeneration, history.NothingLost, history.TenantsIsolated)
}
