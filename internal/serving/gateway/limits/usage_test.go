package limits

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
		bounds Bounds
		lets   int // concurrent requests, each estimated at 10 tokens
		limit  Limit
		wait   time.Duration
	}{
		"Requests":     {limits: registry.Limits{RequestsPerMinute: 2}, lets: 2, limit: "requests", wait: time.Minute},
		"Tokens":       {limits: registry.Limits{TokensPerMinute: 25}, lets: 3, limit: "tokens", wait: time.Minute},
		"Concurrency":  {limits: registry.Limits{ConcurrentRequests: 1}, lets: 1, limit: "concurrency"},
		"TenantQueue":  {bounds: Bounds{PerTenant: 2}, lets: 2, limit: "tenant-queue"},
		"SessionQueue": {bounds: Bounds{PerSession: 3}, lets: 3, limit: "session-queue"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u := New(c.bounds)
			ask := Admission{Tenant: "a", Session: "s", Limits: c.limits, Prompt: 10}
			var permits []*Permit
			for i := range c.lets {
				p, _, refused := u.Admit(ask, noon)
				if refused != nil {
					t.Fatalf("request %d is refused: %v", i, refused)
				}
				permits = append(permits, p)
			}
			_, _, refused := u.Admit(ask, noon)
			if refused == nil || refused.Limit != c.limit || refused.Wait != c.wait {
				t.Fatalf("got %+v", refused)
			}
			other := ask
			other.Tenant, other.Session = "b", "t"
			if p, _, refused := u.Admit(other, noon); refused != nil {
				t.Errorf("another tenant is refused: %v", refused)
			} else {
				p.End(0, noon)
			}
			// An ended request frees its place, and unused tokens do not count.
			permits[0].Started()
			permits[0].End(0, noon)
			permits[0].End(0, noon)
			p, _, refused := u.Admit(ask, noon)
			if perMinute := c.limit == "requests"; (refused != nil) != perMinute {
				t.Errorf("after an end: %v", refused)
			}
			p.End(0, noon)
			for _, p := range permits[1:] {
				p.End(0, noon)
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
	u := New(Bounds{PerSession: 1, PerTenant: 1})
	ask := Admission{Tenant: "a", Session: "s"}
	p, _, _ := u.Admit(ask, noon)
	p.Started()
	p.Started()
	q, _, refused := u.Admit(ask, noon)
	if refused != nil {
		t.Fatal(refused)
	}
	if _, _, refused := u.Admit(ask, noon); refused == nil {
		t.Error("two requests wait")
	}
	p.End(0, noon)
	q.End(0, noon)
}

func TestTokensAreCountedWhenTheyAreKnown(t *testing.T) {
	u := New(Bounds{})
	ask := Admission{Tenant: "a", Session: "s", Limits: registry.Limits{TokensPerMinute: 100, RequestsPerMinute: 9}, Prompt: 10}
	p, left, _ := u.Admit(ask, noon)
	h := http.Header{}
	left.SetHeaders(h)
	for k, want := range map[string]string{
		"X-Ratelimit-Limit-Requests": "9", "X-Ratelimit-Remaining-Requests": "8", "X-Ratelimit-Reset-Requests": "1m0s",
		"X-Ratelimit-Limit-Tokens": "100", "X-Ratelimit-Remaining-Tokens": "90", "X-Ratelimit-Reset-Tokens": "1m0s",
	} {
		if h.Get(k) != want {
			t.Errorf("%s = %q, want %q", k, h.Get(k), want)
		}
	}
	p.End(100, noon.Add(20*time.Second))
	_, left, refused := u.Admit(ask, noon.Add(30*time.Second))
	if refused == nil || left.tokens.used != 100 {
		t.Fatalf("got %+v, %v", left, refused)
	}
	// The estimate expires with its step, and the rest is below the limit then.
	if refused.Wait != 30*time.Second {
		t.Errorf("retry after %v", refused.Wait)
	}
	if _, _, refused := u.Admit(ask, noon.Add(time.Minute)); refused != nil {
		t.Error(refused)
	}
}

// TestGatewaysShare exchanges the reports of two gateways by function calls.
func TestGatewaysShare(t *testing.T) {
	a, b := New(Bounds{PerSession: 2}), New(Bounds{PerSession: 2})
	ga := &Reports{name: "a", usage: a, log: slog.New(slog.DiscardHandler)}
	gb := &Reports{name: "b", usage: b, log: ga.log}
	exchange := func(now time.Time, keepAliveDue bool) (reports int) {
		for _, g := range []*Reports{ga, gb} {
			for more := true; more; {
				var r report
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
	ask := Admission{Tenant: "t", Session: "s", Limits: registry.Limits{RequestsPerMinute: 3, ConcurrentRequests: 2}}
	first, _, _ := a.Admit(ask, noon)
	second, _, _ := b.Admit(ask, noon)
	if n := exchange(noon, false); n != 2 {
		t.Errorf("%d reports", n)
	}
	if n := exchange(noon, false); n != 0 {
		t.Errorf("%d reports without news", n)
	}
	for name, u := range map[string]*Usage{"a": a, "b": b} {
		if _, _, refused := u.Admit(ask, noon); refused == nil || refused.Limit != "concurrency" {
			t.Errorf("%s: %v", name, refused)
		}
		waits := Admission{Tenant: "other", Session: "s"}
		if _, _, refused := u.Admit(waits, noon); refused == nil || refused.Limit != "session-queue" {
			t.Errorf("%s: %v", name, refused)
		}
	}
	first.End(0, noon)
	second.End(0, noon)
	exchange(noon, false)
	third, _, refused := b.Admit(ask, noon)
	if refused != nil {
		t.Fatal(refused)
	}
	exchange(noon, false)
	if _, _, refused := a.Admit(ask, noon); refused == nil || refused.Limit != "requests" {
		t.Errorf("a: %v", refused)
	}

	// A silent gateway holds nothing, but its used tokens count.
	silent := noon.Add(peerTimeout + time.Second)
	third.admission.Limits = registry.Limits{}
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
	c := New(Bounds{})
	gc := &Reports{name: "c", usage: c, log: ga.log}
	ga.receive(report{Gateway: "c", Hello: true}, silent)
	gb.receive(report{Gateway: "c", Hello: true}, silent)
	for _, g := range []*Reports{ga, gb} {
		r, _ := g.usage.report(g.name, silent, false)
		gc.receive(r, silent)
	}
	if got := c.total(ask, silent); got.requests.total != 3 || got.held != 1 {
		t.Errorf("new gateway: got %d requests, %d held", got.requests.total, got.held)
	}
	third.End(0, silent)
}

func TestLongReportsComeInParts(t *testing.T) {
	u := New(Bounds{})
	const tenants = 2*maxReportTenants + 1
	for i := range tenants {
		p, _, _ := u.Admit(Admission{Tenant: fmt.Sprint(i), Session: "s", Limits: registry.Limits{RequestsPerMinute: 1}}, noon)
		p.End(0, noon)
	}
	n, reports := 0, 0
	for more := true; more; reports++ {
		var r report
		r, more = u.report("a", noon, false)
		n += len(r.Tenants)
	}
	if n != tenants || reports != 3 {
		t.Errorf("%d tenants in %d reports", n, reports)
	}
}

// TestHostileReports checks that invalid reports do not corrupt the counts.
func TestHostileReports(t *testing.T) {
	u := New(Bounds{})
	for _, at := range []int64{-1, -1 << 62, 0, 1 << 62, stepAt(noon) + 100, stepAt(noon) - 100} {
		u.merge(report{Gateway: "x", Tenants: map[string]tenantUsage{
			"t": {Requests: [][2]int64{{at, 5}, {stepAt(noon), 1}}, Held: -3, Waiting: -3},
		}}, noon)
		if got := u.total(Admission{Tenant: "t"}, noon); got.requests.total != 1 || got.held != 0 || got.waiting != 0 {
			t.Errorf("%d: %+v", at, got)
		}
	}
}

// TestTenantsBytesWait checks that the requests of a tenant that wait share a number of
// bytes over all sessions and gateways, and leave those of others alone.
func TestTenantsBytesWait(t *testing.T) {
	u := New(Bounds{BytesPerTenant: 100})
	ask := func(tenant, session string, bytes int64) (*Permit, *Reached) {
		p, _, refused := u.Admit(Admission{Tenant: tenant, Session: session, Bytes: bytes}, noon)
		return p, refused
	}
	if _, refused := ask("big", "s", 1000); refused != nil {
		t.Errorf("a single request: %v", refused)
	}
	p, refused := ask("a", "s", 60)
	if refused != nil {
		t.Fatal(refused)
	}
	if _, refused := ask("a", "other", 60); refused == nil || refused.Limit != "tenant-queue" {
		t.Errorf("beyond the bytes in another session: %v", refused)
	}
	if _, refused := ask("b", "s", 60); refused != nil {
		t.Errorf("another tenant: %v", refused)
	}
	there := New(Bounds{BytesPerTenant: 100})
	r, _ := u.report("here", noon, true)
	there.merge(r, noon)
	if _, _, refused := there.Admit(Admission{Tenant: "a", Bytes: 60}, noon.Add(time.Second)); refused == nil {
		t.Error("another gateway does not count the bytes that wait here")
	}
	p.Started()
	if _, refused := ask("a", "other", 60); refused != nil {
		t.Errorf("after the first one has started: %v", refused)
	}
	if _, _, refused := there.Admit(Admission{Tenant: "a", Bytes: 60, Limits: registry.Limits{}}, noon.Add(time.Minute)); refused != nil {
		t.Errorf("after the other gateway is gone: %v", refused)
	}
}

// The limits count each choice, and admit all or none.
func TestLimitsOfChoices(t *testing.T) {
	cases := map[string]struct {
		limits  registry.Limits
		bounds  Bounds
		n, more int // more is what another request asks for afterwards
		limit   Limit
	}{
		"Unlimited":  {registry.Limits{}, Bounds{}, 8, 8, ""},
		"Minute":     {registry.Limits{RequestsPerMinute: 4}, Bounds{}, 3, 2, Requests},
		"MinuteLeft": {registry.Limits{RequestsPerMinute: 5}, Bounds{}, 3, 2, ""},
		"Never":      {registry.Limits{RequestsPerMinute: 5}, Bounds{}, 3, 6, Choices},
		"Concurrent": {registry.Limits{ConcurrentRequests: 4}, Bounds{}, 3, 2, Concurrency},
		"Tenant":     {registry.Limits{}, Bounds{PerTenant: 4}, 3, 2, TenantQueue},
		"Session":    {registry.Limits{}, Bounds{PerSession: 4}, 3, 2, SessionQueue},
		"Bytes":      {registry.Limits{}, Bounds{BytesPerTenant: 40}, 3, 2, TenantQueue},
		"BytesAlone": {registry.Limits{}, Bounds{BytesPerTenant: 25}, 1, 3, TenantQueue},
		"Tokens":     {registry.Limits{TokensPerMinute: 6}, Bounds{}, 3, 1, Tokens},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u, now := New(c.bounds), time.Now()
			ask := Admission{Tenant: "t", Session: "s", Limits: c.limits, Prompt: 2, Bytes: 10, Count: c.n}
			first, _, refused := u.Admit(ask, now)
			if refused != nil {
				t.Fatal(refused)
			}
			ask.Count = c.more
			second, _, refused := u.Admit(ask, now)
			limit := Limit("")
			if refused != nil {
				limit = refused.Limit
			}
			if limit != c.limit {
				t.Fatalf("limit %q, want %q", limit, c.limit)
			}
			for n, p := range map[int]*Permit{c.n: first, -c.more: second} {
				for _, part := range p.Split(max(n, -n)) {
					part.Started()
					part.End(2, now)
				}
			}
			if a := u.accounts["t"]; a != nil && (a.held != 0 || a.waiting != 0 || a.waitingBytes != 0) || len(u.waiting) != 0 {
				t.Errorf("the permits were not given back: %+v, %v", a, u.waiting)
			}
		})
	}
}
