package serving_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// TestDefaultsStarveNoTenant floods a gateway whose flags are the defaults, by the number of
// requests and by their bytes. The gateway refuses the rest of the flood; another tenant gets
// through, and does not wait for the flood to be served.
func TestDefaultsStarveNoTenant(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]struct {
		requests, atOnce int
		most             int // of them that the defaults let wait
		body             int // bytes of each
	}{
		"ByNumber": {requests: 2050, atOnce: 50, most: 2000},
		"ByBytes":  {requests: 14, atOnce: 1, most: (64 << 20) / (6 << 20), body: 6 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const little = 5
			flooder, amber, plug := history.NewTenant("flooder"), history.NewTenant("amber"), history.NewTenant("plug")
			s := newStack(t, plan{gateways: 1, dispatchers: 1, runners: 1, tenants: []history.Tenant{flooder, amber, plug}})
			c := &burst{s: s, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
			occupied, unplug := context.WithCancel(t.Context())
			defer unplug()
			c.send(occupied, plug, 1, history.Prompt{N: 1 << 17, Every: 5 * time.Millisecond})
			s.waiting(t, 1, 0)

			b := s.broker.bus()
			floods, ebb := context.WithCancel(t.Context())
			defer ebb()
			for sent := 0; sent < f.requests; sent += f.atOnce {
				c.sendFrom(floods, flooder, sent, f.atOnce, history.Prompt{N: 3, Padding: strings.Repeat("x", f.body)})
				waittest.Until(t, fmt.Sprintf("%d requests to wait or to be refused", sent+f.atOnce), func() bool {
					return c.ended(flooder)+storedOn(t, b)-1 == sent+f.atOnce
				})
			}
			refused := c.ended(flooder)
			if want := f.requests - f.most; refused != want {
				t.Fatalf("the gateway has refused %d requests of the flood, want %d", refused, want)
			}
			c.send(t.Context(), amber, little, history.Prompt{N: 3})
			s.waiting(t, 1+f.most+little, f.most+little)
			unplug()
			waittest.Until(t, "the other tenant to be answered", func() bool { return c.ended(amber) == little })
			served := c.ended(flooder) - refused
			if served > f.most/2 {
				t.Errorf("%d requests of the flood were served before %d of the other tenant", served, little)
			}
			ebb()

			h := &history.History{Entries: c.wait()}
			s.collect(t, h)
			for _, e := range h.Entries {
				if e.Tenant.Name == amber.Name && e.Verdict != history.OK {
					t.Errorf("a request of the other tenant ended with %s, status %d %s", e.Verdict, e.Status, e.Code)
				}
			}
			t.Logf("%d refused, %d served before the other tenant's last", refused, served)
			h.Verify(t, history.EndsOnce, history.OneGeneration, history.NothingLost, history.TenantsIsolated)
		})
	}
}
