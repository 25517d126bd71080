package gateway

import (
	"context"
	"log/slog"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
)

const (
	gossipEvery = 200 * time.Millisecond // at most, when something has changed
	gossipAlive = time.Second            // while requests are held
	// gossipMost bounds the tenants in one message, well below 1 MiB.
	gossipMost = 500
)

// A useReport is what a gateway tells the others. It holds totals, not
// changes, so that one which gets lost does no harm for long.
type useReport struct {
	Gateway string               `json:"gateway"`
	Hello   bool                 `json:"hello,omitempty"`   // the sender knows nothing yet
	Tenants map[string]tenantUse `json:"tenants,omitempty"` // those that changed
	Waiting map[string]int       `json:"waiting,omitempty"` // all sessions
}

// A tenantUse is what a tenant uses at one gateway. The pairs are steps and
// what was counted in them.
type tenantUse struct {
	Requests [][2]int64 `json:"requests,omitempty"`
	Tokens   [][2]int64 `json:"tokens,omitempty"`
	Held     int        `json:"held,omitempty"`
	Waiting  int        `json:"waiting,omitempty"`
}

// A gossip keeps the gateways of a namespace informed.
type gossip struct {
	name   string // of this gateway, unlike that of any other
	usage  *usage
	send   func(useReport) error
	listen func(handle func(useReport)) (stop func(), err error)
	log    *slog.Logger
}

func newGossip(b *bus.Bus, cfg Config, u *usage) *gossip {
	subject := names.UseSubject(cfg.Namespace)
	return &gossip{
		name: newID(time.Now()), usage: u, log: cfg.Logger,
		send: func(r useReport) error { return b.Send(subject, r) },
		listen: func(handle func(useReport)) (func(), error) {
			return bus.Listen(b, subject, func(_ string, r useReport) { handle(r) })
		},
	}
}

// run tells and listens until ctx ends.
func (g *gossip) run(ctx context.Context) {
	stop, err := g.listen(func(r useReport) { g.hear(r, time.Now()) })
	if err != nil {
		g.log.Warn("cannot hear what other gateways let through; limits hold for this one alone", "error", err)
		stop = func() {}
	}
	defer stop()
	g.tell(useReport{Gateway: g.name, Hello: true})
	tick := time.NewTicker(gossipEvery)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			g.usage.forget(now)
			for more := true; more; {
				var r useReport
				if r, more = g.usage.report(g.name, now, now.Sub(last) >= gossipAlive); r.Gateway != "" {
					g.tell(r)
					last = now
				}
			}
		}
	}
}

func (g *gossip) tell(r useReport) {
	if err := g.send(r); err != nil {
		g.log.Debug("cannot tell other gateways what is used", "error", err)
	}
}

func (g *gossip) hear(r useReport, now time.Time) {
	if r.Gateway == "" || r.Gateway == g.name {
		return
	}
	if r.Hello {
		g.usage.tellAll()
		return
	}
	g.usage.merge(r, now)
}

// report is what the others do not know yet, and whether there is more. It is
// empty if there is nothing to tell. With alive, requests that are held are
// worth a word.
func (u *usage) report(name string, now time.Time, alive bool) (r useReport, more bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.told && (!alive || !u.holds()) {
		return useReport{}, false
	}
	u.told = true
	r = useReport{Gateway: name, Tenants: map[string]tenantUse{}, Waiting: map[string]int{}}
	for session, n := range u.waiting {
		r.Waiting[session] = n
	}
	at := stepAt(now)
	for tenant, a := range u.accounts {
		if !a.changed {
			continue
		}
		if len(r.Tenants) == gossipMost {
			u.told = false
			return r, true
		}
		a.changed = false
		t := tenantUse{Held: a.held, Waiting: a.waiting}
		a.requests.each(at, func(i, n int64) { t.Requests = append(t.Requests, [2]int64{i, n}) })
		a.tokens.each(at, func(i, n int64) { t.Tokens = append(t.Tokens, [2]int64{i, n}) })
		r.Tenants[tenant] = t
	}
	return r, false
}

func (u *usage) holds() bool {
	for _, a := range u.accounts {
		if a.held > 0 {
			return true
		}
	}
	return false
}

// tellAll makes the next report whole.
func (u *usage) tellAll() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, a := range u.accounts {
		a.changed = true
	}
	u.told = len(u.accounts) == 0
}

// merge takes what another gateway has told.
func (u *usage) merge(r useReport, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	p := u.peers[r.Gateway]
	if p == nil {
		p = &peer{accounts: map[string]*account{}}
		u.peers[r.Gateway] = p
	}
	p.heard, p.waiting = now, r.Waiting
	at := stepAt(now)
	for tenant, t := range r.Tenants {
		a := &account{held: max(t.Held, 0), waiting: max(t.Waiting, 0)}
		a.requests.fill(t.Requests, at)
		a.tokens.fill(t.Tokens, at)
		p.accounts[tenant] = a
	}
}

// fill adds what somebody else has counted until a step. What his clock says
// of another time than the last minute is left out.
func (w *window) fill(counted [][2]int64, at int64) {
	for _, c := range counted {
		if c[0] > at-steps && c[0] <= at+1 {
			w.add(c[0], c[1])
		}
	}
}
