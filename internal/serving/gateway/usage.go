package gateway

import (
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/serving/registry"
)

// bounds are the limits of a gateway, as opposed to those of a token.
type bounds struct {
	perSession int // requests of a session that wait; 0 is no limit
	perTenant  int // requests of a tenant that wait; 0 is no limit
	// bytesPerTenant are those of the requests of a tenant that wait; 0 is no limit.
	bytesPerTenant int64
}

// A usage counts what each tenant uses here and, by their reports, at the other
// gateways of the namespace. It decides which requests are admitted.
type usage struct {
	bounds bounds

	mu       sync.Mutex // guards the fields below
	accounts map[string]*account
	waiting  map[string]int // own requests that wait, by session
	peers    map[string]*peer
	reported bool // nothing here has changed since the last report
}

// An account is what one tenant uses.
type account struct {
	requests, tokens window
	held             int // requests that wait or are at work
	waiting          int
	waitingBytes     int64
	changed          bool // since the last report
}

// A peer is the usage at another gateway, by its reports.
type peer struct {
	received time.Time // the latest report
	accounts map[string]*account
	waiting  map[string]int
}

// peerTimeout is how long after its last report a gateway is taken for gone, and
// the requests that it held with it. What it has counted stays for its minute.
const peerTimeout = 5 * time.Second

func newUsage(b bounds) *usage {
	return &usage{bounds: b, accounts: map[string]*account{}, waiting: map[string]int{}, peers: map[string]*peer{}, reported: true}
}

// An admission is a request that asks to be admitted, or several that ask together.
type admission struct {
	tenant, session string
	limits          registry.Limits
	prompt          int64 // estimated tokens of each
	bytes           int64 // of the body of each
	count           int   // of the requests; 0 is one
}

// A permit is an admitted request, or several until split. It is nil if no limit applies to the request.
// It belongs to one goroutine.
type permit struct {
	usage     *usage
	admission admission
	waiting   bool
	ended     bool
}

// admit returns a permit, or the refusal if a limit is reached, and what is left
// of the limits. Without any limit nothing is counted, and all three are nil.
func (u *usage) admit(c admission, now time.Time) (*permit, *allowance, *refusal) {
	if u.bounds == (bounds{}) && c.limits == (registry.Limits{}) {
		return nil, nil, nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	all := u.total(c, now)
	left := newAllowance(c.limits, all, now)
	n := max(c.count, 1)
	if most := u.mostTogether(c.limits); most > 0 && n > most {
		return nil, left, errTooManyChoices(most)
	}
	switch l := c.limits; {
	case l.RequestsPerMinute > 0 && all.requests.total+int64(n) > int64(l.RequestsPerMinute):
		return nil, left, errRate("requests", "requests per minute", int64(l.RequestsPerMinute), all.requests.below(int64(l.RequestsPerMinute-n+1), now))
	case l.TokensPerMinute > 0 && all.tokens.total >= l.TokensPerMinute:
		return nil, left, errRate("tokens", "tokens per minute", l.TokensPerMinute, all.tokens.below(l.TokensPerMinute, now))
	case l.ConcurrentRequests > 0 && all.held+n > l.ConcurrentRequests:
		return nil, left, errRate("concurrency", "requests at the same time", int64(l.ConcurrentRequests), concurrentRetry)
	case u.bounds.perTenant > 0 && all.waiting+n > u.bounds.perTenant:
		return nil, left, errTenantFull()
	case u.bounds.bytesPerTenant > 0 && all.waitingBytes+int64(n-1)*c.bytes > 0 && all.waitingBytes+int64(n)*c.bytes > u.bounds.bytesPerTenant:
		return nil, left, errTenantFull()
	case u.bounds.perSession > 0 && all.waitingInSession+n > u.bounds.perSession:
		return nil, left, errSessionFull()
	}
	a := u.accounts[c.tenant]
	if a == nil {
		a = &account{}
		u.accounts[c.tenant] = a
	}
	a.requests.add(all.at, int64(n))
	a.tokens.add(all.at, int64(n)*c.prompt)
	a.held += n
	a.waiting += n
	a.waitingBytes += int64(n) * c.bytes
	a.changed = true
	u.waiting[c.session] += n
	u.reported = false
	left.use(int64(n), c.prompt)
	return &permit{usage: u, admission: c, waiting: true}, left, nil
}

// mostTogether returns how many requests can be admitted together at all; 0 is no limit.
func (u *usage) mostTogether(l registry.Limits) int {
	most := 0
	for _, limit := range []int{l.RequestsPerMinute, l.ConcurrentRequests, u.bounds.perTenant, u.bounds.perSession} {
		if limit > 0 && (most == 0 || limit < most) {
			most = limit
		}
	}
	return most
}

// split returns a permit for each of n requests that were admitted together, in place
// of the one for all. Without limits all are nil.
func (p *permit) split(n int) []*permit {
	out := make([]*permit, n)
	for i := range out {
		if p != nil {
			part := *p
			part.admission.count = 1
			out[i] = &part
		}
	}
	return out
}

// concurrentRetry is the hint for a tenant with too many requests at the same
// time: when one of them ends cannot be known.
const concurrentRetry = 2 * time.Second

// totals are what a tenant uses at all gateways.
type totals struct {
	at                              int64
	requests, tokens                sum
	held, waiting, waitingInSession int
	waitingBytes                    int64
}

func (u *usage) total(c admission, now time.Time) *totals {
	at := stepAt(now)
	t := &totals{at: at, requests: sum{at: at}, tokens: sum{at: at}}
	if a := u.accounts[c.tenant]; a != nil {
		t.count(a)
		t.hold(a)
	}
	t.waitingInSession = u.waiting[c.session]
	for _, p := range u.peers {
		alive := now.Sub(p.received) < peerTimeout
		if a := p.accounts[c.tenant]; a != nil {
			t.count(a)
			if alive {
				t.hold(a)
			}
		}
		if alive {
			t.waitingInSession += p.waiting[c.session]
		}
	}
	return t
}

// count adds what an account has counted in the last minute.
func (t *totals) count(a *account) {
	t.requests.add(&a.requests)
	t.tokens.add(&a.tokens)
}

// hold adds the requests that wait or are at work.
func (t *totals) hold(a *account) {
	t.held += a.held
	t.waiting += a.waiting
	t.waitingBytes += a.waitingBytes
}

// started records that the request no longer waits.
func (p *permit) started() {
	if p == nil {
		return
	}
	p.usage.mu.Lock()
	defer p.usage.mu.Unlock()
	p.stopWaiting()
}

func (p *permit) stopWaiting() {
	if !p.waiting {
		return
	}
	p.waiting = false
	u := p.usage
	a := u.accounts[p.admission.tenant]
	a.waiting--
	a.waitingBytes -= p.admission.bytes
	a.changed = true
	if u.waiting[p.admission.session]--; u.waiting[p.admission.session] == 0 {
		delete(u.waiting, p.admission.session)
	}
	u.reported = false
}

// end gives the permit back. The tokens of prompt and answer together replace
// the estimate. Further calls do nothing.
func (p *permit) end(tokens int64, now time.Time) {
	if p == nil {
		return
	}
	u := p.usage
	u.mu.Lock()
	defer u.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	p.stopWaiting()
	a := u.accounts[p.admission.tenant]
	a.held--
	a.changed = true
	a.tokens.add(stepAt(now), tokens-p.admission.prompt)
	u.reported = false
}

// forget drops accounts without usage, and peers that are gone.
func (u *usage) forget(now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := stepAt(now)
	for tenant, a := range u.accounts {
		if a.held == 0 && !a.changed && a.empty(at) {
			delete(u.accounts, tenant)
		}
	}
	for name, p := range u.peers {
		if now.Sub(p.received) > time.Minute+step {
			delete(u.peers, name)
			continue
		}
		for tenant, a := range p.accounts {
			if a.held == 0 && a.empty(at) {
				delete(p.accounts, tenant)
			}
		}
	}
}

func (a *account) empty(at int64) bool {
	isEmpty := true
	for _, w := range []*window{&a.requests, &a.tokens} {
		w.each(at, func(int64, int64) { isEmpty = false })
	}
	return isEmpty
}
