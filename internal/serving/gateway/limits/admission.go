package limits

import (
	"time"

	"github.com/gorizond/koldun/internal/serving/registry"
)

// An Admission is a request that asks to be admitted, or several that ask together.
type Admission struct {
	Tenant, Session string
	Limits          registry.Limits
	Prompt          int64 // estimated tokens of each
	Bytes           int64 // of the body of each
	Count           int   // of the requests; 0 is one
}

// A Limit refuses requests. Its value is its label in metrics.
type Limit string

// The limits.
const (
	Choices      Limit = "choices"       // requests that ask together are more than a limit ever lets pass
	Requests     Limit = "requests"      // of a tenant per minute
	Tokens       Limit = "tokens"        // of a tenant per minute
	Concurrency  Limit = "concurrency"   // requests of a tenant at the same time
	TenantQueue  Limit = "tenant-queue"  // requests of a tenant that wait, or their bytes
	SessionQueue Limit = "session-queue" // requests of a session that wait
)

// Reached is why requests are not admitted.
type Reached struct {
	Limit Limit
	Most  int64         // that the limit admits; 0 for queues
	Wait  time.Duration // until the limit admits as many requests; 0 if that cannot be known
}

// A Permit is an admitted request, or several until split. It is nil if no limit applies
// to the request. It belongs to one goroutine.
type Permit struct {
	usage     *Usage
	admission Admission
	waiting   bool
	ended     bool
}

// Admit returns a permit, or which limit is reached, and what is left of the limits.
// Without any limit nothing is counted, and all three are nil.
func (u *Usage) Admit(c Admission, now time.Time) (*Permit, *Allowance, *Reached) {
	if u.bounds == (Bounds{}) && c.Limits == (registry.Limits{}) {
		return nil, nil, nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	all := u.total(c, now)
	left := newAllowance(c.Limits, all, now)
	n := max(c.Count, 1)
	if reached := u.check(c, n, all, now); reached != nil {
		return nil, left, reached
	}
	a := u.accounts[c.Tenant]
	if a == nil {
		a = &account{}
		u.accounts[c.Tenant] = a
	}
	a.requests.add(all.at, int64(n))
	a.tokens.add(all.at, int64(n)*c.Prompt)
	a.held += n
	a.waiting += n
	a.waitingBytes += int64(n) * c.Bytes
	a.changed = true
	u.waiting[c.Session] += n
	u.reported = false
	left.use(int64(n), c.Prompt)
	return &Permit{usage: u, admission: c, waiting: true}, left, nil
}

// check returns the limit that does not admit n requests beside all that a tenant uses, or nil.
func (u *Usage) check(c Admission, n int, all *totals, now time.Time) *Reached {
	if most := u.mostTogether(c.Limits); most > 0 && n > most {
		return &Reached{Limit: Choices, Most: int64(most)}
	}
	switch l := c.Limits; {
	case l.RequestsPerMinute > 0 && all.requests.total+int64(n) > int64(l.RequestsPerMinute):
		return &Reached{Limit: Requests, Most: int64(l.RequestsPerMinute), Wait: all.requests.below(int64(l.RequestsPerMinute-n+1), now)}
	case l.TokensPerMinute > 0 && all.tokens.total >= l.TokensPerMinute:
		return &Reached{Limit: Tokens, Most: l.TokensPerMinute, Wait: all.tokens.below(l.TokensPerMinute, now)}
	case l.ConcurrentRequests > 0 && all.held+n > l.ConcurrentRequests:
		return &Reached{Limit: Concurrency, Most: int64(l.ConcurrentRequests)}
	case u.bounds.PerTenant > 0 && all.waiting+n > u.bounds.PerTenant:
		return &Reached{Limit: TenantQueue}
	case u.bounds.BytesPerTenant > 0 && all.waitingBytes+int64(n-1)*c.Bytes > 0 && all.waitingBytes+int64(n)*c.Bytes > u.bounds.BytesPerTenant:
		return &Reached{Limit: TenantQueue}
	case u.bounds.PerSession > 0 && all.waitingInSession+n > u.bounds.PerSession:
		return &Reached{Limit: SessionQueue}
	}
	return nil
}

// mostTogether returns how many requests can be admitted together at all; 0 is no limit.
func (u *Usage) mostTogether(l registry.Limits) int {
	most := 0
	for _, limit := range []int{l.RequestsPerMinute, l.ConcurrentRequests, u.bounds.PerTenant, u.bounds.PerSession} {
		if limit > 0 && (most == 0 || limit < most) {
			most = limit
		}
	}
	return most
}

// Split returns a permit for each of n requests that were admitted together, in place
// of the one for all. Without limits all are nil.
func (p *Permit) Split(n int) []*Permit {
	out := make([]*Permit, n)
	for i := range out {
		if p != nil {
			part := *p
			part.admission.Count = 1
			out[i] = &part
		}
	}
	return out
}

// Started records that the request no longer waits.
func (p *Permit) Started() {
	if p == nil {
		return
	}
	p.usage.mu.Lock()
	defer p.usage.mu.Unlock()
	p.stopWaiting()
}

func (p *Permit) stopWaiting() {
	if !p.waiting {
		return
	}
	p.waiting = false
	u := p.usage
	a := u.accounts[p.admission.Tenant]
	a.waiting--
	a.waitingBytes -= p.admission.Bytes
	a.changed = true
	if u.waiting[p.admission.Session]--; u.waiting[p.admission.Session] == 0 {
		delete(u.waiting, p.admission.Session)
	}
	u.reported = false
}

// End gives the permit back. The tokens of prompt and answer together replace
// the estimate. Further calls do nothing.
func (p *Permit) End(tokens int64, now time.Time) {
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
	a := u.accounts[p.admission.Tenant]
	a.held--
	a.changed = true
	a.tokens.add(stepAt(now), tokens-p.admission.Prompt)
	u.reported = false
}
