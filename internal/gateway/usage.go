package gateway

import (
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/registry"
)

// bounds are the limits of a gateway, as opposed to those of a token.
type bounds struct {
	perSession int // requests of a session that wait; 0 is no limit
	perTenant  int // requests of a tenant that wait; 0 is no limit
}

// A usage knows what each tenant uses, here and, as far as they have said, at
// the other gateways of the namespace. It decides who may ask now.
type usage struct {
	bounds bounds

	mu       sync.Mutex // guards the fields below
	accounts map[string]*account
	waiting  map[string]int // own requests that wait, by session
	peers    map[string]*peer
	told     bool // what is here has not changed since the others were told
}

// An account is what one tenant uses.
type account struct {
	requests, tokens window
	held             int // requests that wait or are at work
	waiting          int
	changed          bool // since the others were told
}

// A peer is what another gateway has told.
type peer struct {
	heard    time.Time
	accounts map[string]*account
	waiting  map[string]int
}

// peerSilence is how long a gateway may be silent before the requests it held
// are taken for gone. What it has counted stays for its minute.
const peerSilence = 5 * time.Second

func newUsage(b bounds) *usage {
	return &usage{bounds: b, accounts: map[string]*account{}, waiting: map[string]int{}, peers: map[string]*peer{}, told: true}
}

// A claim asks to be let in.
type claim struct {
	tenant, session string
	limits          registry.Limits
	prompt          int64 // estimated tokens
}

// A permit is a request that was let in. A nil one is of a request that nothing
// limits. It belongs to one goroutine.
type permit struct {
	usage   *usage
	claim   claim
	waiting bool
	ended   bool
}

// admit lets a request in, or says why not. The allowance is what is left.
// Without any limit nothing is counted, and both are nil.
func (u *usage) admit(c claim, now time.Time) (*permit, *allowance, *refusal) {
	if u.bounds == (bounds{}) && c.limits == (registry.Limits{}) {
		return nil, nil, nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	all := u.total(c, now)
	left := newAllowance(c.limits, all, now)
	switch l := c.limits; {
	case l.RequestsPerMinute > 0 && all.requests.total >= int64(l.RequestsPerMinute):
		return nil, left, errRate("requests", "requests per minute", int64(l.RequestsPerMinute), all.requests.below(int64(l.RequestsPerMinute), now))
	case l.TokensPerMinute > 0 && all.tokens.total >= l.TokensPerMinute:
		return nil, left, errRate("tokens", "tokens per minute", l.TokensPerMinute, all.tokens.below(l.TokensPerMinute, now))
	case l.ConcurrentRequests > 0 && all.held >= l.ConcurrentRequests:
		return nil, left, errRate("concurrency", "requests at the same time", int64(l.ConcurrentRequests), concurrentRetry)
	case u.bounds.perTenant > 0 && all.waiting >= u.bounds.perTenant:
		return nil, left, errTenantFull()
	case u.bounds.perSession > 0 && all.waitingInSession >= u.bounds.perSession:
		return nil, left, errSessionFull()
	}
	a := u.accounts[c.tenant]
	if a == nil {
		a = &account{}
		u.accounts[c.tenant] = a
	}
	a.requests.add(all.at, 1)
	a.tokens.add(all.at, c.prompt)
	a.held++
	a.waiting++
	a.changed = true
	u.waiting[c.session]++
	u.told = false
	left.use(c.prompt)
	return &permit{usage: u, claim: c, waiting: true}, left, nil
}

// concurrentRetry is the hint for who has too many requests at the same time:
// nobody knows when one of them will end.
const concurrentRetry = 2 * time.Second

// totals are what a tenant uses everywhere.
type totals struct {
	at                              int64
	requests, tokens                sum
	held, waiting, waitingInSession int
}

func (u *usage) total(c claim, now time.Time) *totals {
	at := stepAt(now)
	t := &totals{at: at, requests: sum{at: at}, tokens: sum{at: at}}
	t.add(u.accounts[c.tenant], true)
	t.waitingInSession = u.waiting[c.session]
	for _, p := range u.peers {
		alive := now.Sub(p.heard) < peerSilence
		t.add(p.accounts[c.tenant], alive)
		if alive {
			t.waitingInSession += p.waiting[c.session]
		}
	}
	return t
}

func (t *totals) add(a *account, alive bool) {
	if a == nil {
		return
	}
	t.requests.add(&a.requests)
	t.tokens.add(&a.tokens)
	if alive {
		t.held += a.held
		t.waiting += a.waiting
	}
}

// started notes that the request waits no more.
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
	a := u.accounts[p.claim.tenant]
	a.waiting--
	a.changed = true
	if u.waiting[p.claim.session]--; u.waiting[p.claim.session] == 0 {
		delete(u.waiting, p.claim.session)
	}
	u.told = false
}

// end gives the permit back. Tokens are those of prompt and answer together,
// which take the place of the estimate. Further calls do nothing.
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
	a := u.accounts[p.claim.tenant]
	a.held--
	a.changed = true
	a.tokens.add(stepAt(now), tokens-p.claim.prompt)
	u.told = false
}

// forget drops accounts without use, and peers that are gone.
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
		if now.Sub(p.heard) > time.Minute+step {
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
