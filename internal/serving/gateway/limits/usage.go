package limits

import (
	"sync"
	"time"
)

// Bounds are the limits that hold for all tenants of a gateway; a token has its own.
type Bounds struct {
	PerSession int // requests of a session that wait; 0 is no limit
	PerTenant  int // requests of a tenant that wait; 0 is no limit
	// BytesPerTenant bounds the bodies of the requests of a tenant that wait; 0 is no limit.
	BytesPerTenant int64
}

// A Usage counts what each tenant uses here and, by their reports, at the other
// gateways of the namespace. It decides which requests are admitted.
type Usage struct {
	bounds Bounds

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

// New returns a Usage within the bounds.
func New(b Bounds) *Usage {
	return &Usage{bounds: b, accounts: map[string]*account{}, waiting: map[string]int{}, peers: map[string]*peer{}, reported: true}
}

// totals are what a tenant uses at all gateways.
type totals struct {
	at                              int64
	requests, tokens                sum
	held, waiting, waitingInSession int
	waitingBytes                    int64
}

func (u *Usage) total(c Admission, now time.Time) *totals {
	at := stepAt(now)
	t := &totals{at: at, requests: sum{at: at}, tokens: sum{at: at}}
	if a := u.accounts[c.Tenant]; a != nil {
		t.count(a)
		t.hold(a)
	}
	t.waitingInSession = u.waiting[c.Session]
	for _, p := range u.peers {
		alive := now.Sub(p.received) < peerTimeout
		if a := p.accounts[c.Tenant]; a != nil {
			t.count(a)
			if alive {
				t.hold(a)
			}
		}
		if alive {
			t.waitingInSession += p.waiting[c.Session]
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

// forget drops accounts without usage, and peers that are gone.
func (u *Usage) forget(now time.Time) {
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
