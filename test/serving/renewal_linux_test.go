package serving_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/waittest"
)

// TestCredentialsEndAndAreRenewed runs all processes with credentials of three seconds,
// which are renewed again and again under load. No request may notice.
func TestCredentialsEndAndAreRenewed(t *testing.T) {
	const lives, renewals = 3 * time.Second, 6
	tenants := []tenant{newTenant("amber"), newTenant("birch")}
	s := newStack(t, plan{gateways: 1, dispatchers: 2, runners: 2, tenants: tenants, lives: time.Hour})
	h := &history{}
	ctx, stop := context.WithCancel(t.Context())
	w := newWorkload(s, tenants)
	w.start(ctx, 4)
	again := time.NewTicker(lives / 2)
	defer again.Stop()
	waittest.Until(t, "the gateway to have renewed its credentials", func() bool {
		<-again.C
		s.renewAll(lives)
		n, _ := strconv.Atoi(metric(t, s.gatewayHealth[0], "koldun_nats_credential_renewals_total"))
		return n >= renewals
	})
	s.renewAll(time.Hour)
	stop()
	w.wait(h)
	s.collect(t, h)
	var longest time.Duration
	for _, e := range h.entries {
		longest = max(longest, e.ended.Sub(e.invoked))
		if e.verdict != ok && e.verdict != disconnected {
			t.Errorf("request %s: %s, status %d, %q", e.id, e.verdict, e.status, e.code)
		}
	}
	t.Logf("%d requests, the longest took %v", len(h.entries), longest)
	for _, addr := range append(s.gatewayHealth, s.health...) {
		if n := metric(t, addr, "koldun_nats_permission_violations_total"); n != "0" {
			t.Errorf("NATS refused %q messages of the process with health on %s", n, addr)
		}
	}
	h.verify(t, endsOnce, oneGeneration, nothingLost, tenantsIsolated)
}
