package gateway

import (
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/serving/registry"
)

// noon is the start of a step.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestWindowForgets(t *testing.T) {
	var w window
	total := func(at time.Time) int64 {
		s := sum{at: stepAt(at)}
		s.add(&w)
		return s.total
	}
	w.add(stepAt(noon), 3)
	w.add(stepAt(noon.Add(30*time.Second)), 4)
	w.add(stepAt(noon.Add(30*time.Second)), -1)
	for after, want := range map[time.Duration]int64{
		0: 6, 30 * time.Second: 6, 59 * time.Second: 6, time.Minute: 3, 89 * time.Second: 3, 90 * time.Second: 0, time.Hour: 0,
	} {
		if got := total(noon.Add(after)); got != want {
			t.Errorf("after %v: %d, want %d", after, got, want)
		}
	}
	w.add(stepAt(noon.Add(-time.Minute)), 100) // too late to count
	if got := total(noon); got != 6 {
		t.Errorf("%d, want 6", got)
	}
	w.add(stepAt(noon.Add(10*time.Minute)), 5)
	if got := total(noon.Add(10 * time.Minute)); got != 5 {
		t.Errorf("%d, want 5", got)
	}
}

func TestSumBelow(t *testing.T) {
	var w window
	w.add(stepAt(noon), 3)
	w.add(stepAt(noon.Add(20*time.Second)), 4)
	now := noon.Add(31 * time.Second)
	s := sum{at: stepAt(now)}
	s.add(&w)
	for limit, want := range map[int64]time.Duration{
		8: 0, 7: 29 * time.Second, 5: 29 * time.Second, 4: 49 * time.Second, 1: 49 * time.Second,
	} {
		if got := s.below(limit, now); got != want {
			t.Errorf("below %d after %v, want %v", limit, got, want)
		}
	}
}

func TestAdmit(t *testing.T) {
	cases := map[string]struct {
		limits registry.Limits
		bounds bounds
		lets   int // concurrent requests, each estimated at 10 tokens
		limit  string
		retry  time.Duration
	}{
		"Requests":     {limits: registry.Limits{RequestsPerMinute: 2}, lets: 2, limit: "requests", retry: time.Minute},
		"Tokens":       {limits: registry.Limits{TokensPerMinute: 25}, lets: 3, limit: "tokens", retry: time.Minute},
		"Concurrency":  {limits: registry.Limits{ConcurrentRequests: 1}, lets: 1, limit: "concurrency", retry: concurrentRetry},
		"TenantQueue":  {bounds: bounds{perTenant: 2}, lets: 2, limit: "tenant-queue", retry: 15 * time.Second},
		"SessionQueue": {bounds: bounds{perSession: 3}, lets: 3, limit: "session-queue", retry: 15 * time.Second},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u := newUsage(c.bounds)
			ask := admission{tenant: "a", session: "s", limits: c.limits, prompt: 10}
			var permits []*permit
			for i := range c.lets {
				p, _, refused := u.admit(ask, noon)
				if refused != nil {
					t.Fatalf("request %d is refused: %v", i, refused)
				}
				permits = append(permits, p)
			}
			_, _, refused := u.admit(ask, noon)
			if refused == nil || refused.limit != c.limit || refused.Status != http.StatusTooManyRequests || refused.retryAfter != c.retry {
				t.Fatalf("got %+v", refused)
			}
			other := ask
			other.tenant, other.session = "b", "t"
			if p, _, refused := u.admit(other, noon); refused != nil {
				t.Errorf("another tenant is refused: %v", refused)
			} else {
				p.end(0, noon)
			}
			// An ended request frees its place, and unused tokens do not count.
			permits[0].started()
			permits[0].end(0, noon)
			permits[0].end(0, noon)
			p, _, refused := u.admit(ask, noon)
			if perMinute := c.limit == "requests"; (refused != nil) != perMinute {
				t.Errorf("after an end: %v", refused)
			}
			p.end(0, noon)
			for _, p := range permits[1:] {
				p.end(0, noon)
			}
			for range 2 { // a change has to be reported before it is forgotten
				u.report("me", noon, true)
				u.forget(noon.Add(2 * time.Minute))
			}
			if len(u.accounts)+len(u.waiting) != 0 {
				t.Errorf("left over: %+v %+v", u.accounts, u.waiting)
			}
		})
	}
}

func TestStartedIsNoLongerWaiting(t *testing.T) {
	u := newUsage(bounds{perSession: 1, perTenant: 1})
	ask := admission{tenant: "a", session: "s"}
	p, _, _ := u.admit(ask, noon)
	p.started()
	p.started()
	q, _, refused := u.admit(ask, noon)
	if refused != nil {
		t.Fatal(refused)
	}
	if _, _, refused := u.admit(ask, noon); refused == nil {
		t.Error("two requests wait")
	}
	p.end(0, noon)
	q.end(0, noon)
}

func TestTokensAreCountedWhenTheyAreKnown(t *testing.T) {
	u := newUsage(bounds{})
	ask := admission{tenant: "a", session: "s", limits: registry.Limits{TokensPerMinute: 100, RequestsPerMinute: 9}, prompt: 10}
	p, left, _ := u.admit(ask, noon)
	h := http.Header{}
	left.setHeaders(h)
	for k, want := range map[string]string{
		"X-Ratelimit-Limit-Requests": "9", "X-Ratelimit-Remaining-Requests": "8", "X-Ratelimit-Reset-Requests": "1m0s",
		"X-Ratelimit-Limit-Tokens": "100", "X-Ratelimit-Remaining-Tokens": "90", "X-Ratelimit-Reset-Tokens": "1m0s",
	} {
		if h.Get(k) != want {
			t.Errorf("%s = %q, want %q", k, h.Get(k), want)
		}
	}
	p.end(100, noon.Add(20*time.Second))
	_, left, refused := u.admit(ask, noon.Add(30*time.Second))
	if refused == nil || left.tokens.used != 100 {
		t.Fatalf("got %+v, %v", left, refused)
	}
	// The estimate expires with its step, and the rest is below the limit then.
	if refused.retryAfter != 30*time.Second {
		t.Errorf("retry after %v", refused.retryAfter)
	}
	if _, _, refused := u.admit(ask, noon.Add(time.Minute)); refused != nil {
		t.Error(refused)
	}
}

// TestGatewaysShare exchanges the reports of two gateways by function calls.
func TestGatewaysShare(t *testing.T) {
	a, b := newUsage(bounds{perSession: 2}), newUsage(bounds{perSession: 2})
	ga := &usageReports{name: "a", usage: a, log: slog.New(slog.DiscardHandler)}
	gb := &usageReports{name: "b", usage: b, log: ga.log}
	exchange := func(now time.Time, keepAliveDue bool) (reports int) {
		for _, g := range []*usageReports{ga, gb} {
			for more := true; more; {
				var r usageReport
				if r, more = g.usage.report(g.name, now, keepAliveDue); r.Gateway == "" {
					continue
				}
				reports++
				ga.receive(r, now)
				gb.receive(r, now)
			}
		}
		return reports
	}
	ask := admission{tenant: "t", session: "s", limits: registry.Limits{RequestsPerMinute: 3, ConcurrentRequests: 2}}
	first, _, _ := a.admit(ask, noon)
	second, _, _ := b.admit(ask, noon)
	if n := exchange(noon, false); n != 2 {
		t.Errorf("%d reports", n)
	}
	if n := exchange(noon, false); n != 0 {
		t.Errorf("%d reports without news", n)
	}
	for name, u := range map[string]*usage{"a": a, "b": b} {
		if _, _, refused := u.admit(ask, noon); refused == nil || refused.limit != "concurrency" {
			t.Errorf("%s: %v", name, refused)
		}
		waits := admission{tenant: "other", session: "s"}
		if _, _, refused := u.admit(waits, noon); refused == nil || refused.limit != "session-queue" {
			t.Errorf("%s: %v", name, refused)
		}
	}
	first.end(0, noon)
	second.end(0, noon)
	exchange(noon, false)
	third, _, refused := b.admit(ask, noon)
	if refused != nil {
		t.Fatal(refused)
	}
	exchange(noon, false)
	if _, _, refused := a.admit(ask, noon); refused == nil || refused.limit != "requests" {
		t.Errorf("a: %v", refused)
	}

	// A silent gateway holds nothing, but its used tokens count.
	silent := noon.Add(peerTimeout + time.Second)
	third.admission.limits = registry.Limits{}
	if got := a.total(ask, silent); got.held != 0 || got.requests.total != 3 {
		t.Errorf("held %d, used %d", got.held, got.requests.total)
	}
	if n := exchange(silent, true); n != 1 { // b still sends reports and holds one
		t.Errorf("%d reports", n)
	}
	if got := a.total(ask, silent); got.held != 1 {
		t.Errorf("held %d", got.held)
	}

	// A new gateway requests and receives all reports.
	c := newUsage(bounds{})
	gc := &usageReports{name: "c", usage: c, log: ga.log}
	ga.receive(usageReport{Gateway: "c", Hello: true}, silent)
	gb.receive(usageReport{Gateway: "c", Hello: true}, silent)
	for _, g := range []*usageReports{ga, gb} {
		r, _ := g.usage.report(g.name, silent, false)
		gc.receive(r, silent)
	}
	if got := c.total(ask, silent); got.requests.total != 3 || got.held != 1 {
		t.Errorf("new gateway: got %d requests, %d held", got.requests.total, got.held)
	}
	third.end(0, silent)
}

func TestLongReportsComeInParts(t *testing.T) {
	u := newUsage(bounds{})
	const tenants = 2*maxReportTenants + 1
	for i := range tenants {
		p, _, _ := u.admit(admission{tenant: fmt.Sprint(i), session: "s", limits: registry.Limits{RequestsPerMinute: 1}}, noon)
		p.end(0, noon)
	}
	n, reports := 0, 0
	for more := true; more; reports++ {
		var r usageReport
		r, more = u.report("a", noon, false)
		n += len(r.Tenants)
	}
	if n != tenants || reports != 3 {
		t.Errorf("%d tenants in %d reports", n, reports)
	}
}

// TestHostileReports checks that invalid reports do not corrupt the counts.
func TestHostileReports(t *testing.T) {
	u := newUsage(bounds{})
	for _, at := range []int64{-1, -1 << 62, 0, 1 << 62, stepAt(noon) + 100, stepAt(noon) - 100} {
		u.merge(usageReport{Gateway: "x", Tenants: map[string]tenantUsage{
			"t": {Requests: [][2]int64{{at, 5}, {stepAt(noon), 1}}, Held: -3, Waiting: -3},
		}}, noon)
		if got := u.total(admission{tenant: "t"}, noon); got.requests.total != 1 || got.held != 0 || got.waiting != 0 {
			t.Errorf("%d: %+v", at, got)
		}
	}
}
