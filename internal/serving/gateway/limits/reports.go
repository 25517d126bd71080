package limits

import (
	"context"
	"log/slog"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

const (
	reportInterval    = 200 * time.Millisecond // between reports of changes
	keepAliveInterval = time.Second            // between reports while requests are held
	// maxReportTenants bounds the tenants in one message, well below 1 MiB.
	maxReportTenants = 500
)

// A report is what a gateway sends to the others. It holds totals, not
// changes, so that the next one makes up for one that gets lost.
type report struct {
	Gateway string                 `json:"gateway"`
	Hello   bool                   `json:"hello,omitempty"`   // the sender has just started and asks for all
	Tenants map[string]tenantUsage `json:"tenants,omitempty"` // those that changed
	Waiting map[string]int         `json:"waiting,omitempty"` // requests of all sessions
}

// A tenantUsage is what a tenant uses at one gateway. The pairs are the number
// of a step and the count in it.
type tenantUsage struct {
	Requests [][2]int64 `json:"requests,omitempty"`
	Tokens   [][2]int64 `json:"tokens,omitempty"`
	Held     int        `json:"held,omitempty"`
	Waiting  int        `json:"waiting,omitempty"`
	Bytes    int64      `json:"bytes,omitempty"` // of the requests that wait
}

// Reports exchange the usage of tenants between the gateways of a namespace.
type Reports struct {
	name   string // of this gateway, unique
	usage  *Usage
	send   func(report) error
	listen func(handle func(report)) (stop func(), err error)
	log    *slog.Logger
}

// NewReports returns the reports of a gateway, by its name, to the others of its
// namespace.
func NewReports(b *bus.Bus, namespace, name string, u *Usage, log *slog.Logger) *Reports {
	subject := names.UseSubject(namespace)
	return &Reports{
		name: name, usage: u, log: log,
		send: func(r report) error { return b.Send(subject, r) },
		listen: func(handle func(report)) (func(), error) {
			return bus.Listen(b, subject, func(_ string, r report) { handle(r) })
		},
	}
}

// Run sends and receives reports until ctx ends.
func (g *Reports) Run(ctx context.Context) {
	stop, err := g.listen(func(r report) { g.receive(r, time.Now()) })
	if err != nil {
		g.log.Warn("cannot receive the usage at other gateways; limits hold for this one alone", "error", err)
		stop = func() {}
	}
	defer stop()
	g.publish(report{Gateway: g.name, Hello: true})
	tick := time.NewTicker(reportInterval)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			g.usage.forget(now)
			for more := true; more; {
				var r report
				if r, more = g.usage.report(g.name, now, now.Sub(last) >= keepAliveInterval); r.Gateway != "" {
					g.publish(r)
					last = now
				}
			}
		}
	}
}

func (g *Reports) publish(r report) {
	if err := g.send(r); err != nil {
		g.log.Debug("cannot send the usage to other gateways", "error", err)
	}
}

func (g *Reports) receive(r report, now time.Time) {
	if r.Gateway == "" || r.Gateway == g.name {
		return
	}
	if r.Hello {
		g.usage.reportAll()
		return
	}
	g.usage.merge(r, now)
}

// report returns what the others do not know yet, and whether there is more. It
// is empty if there is nothing to report. If a keep-alive is due, requests that
// are held are reported even without a change.
func (u *Usage) report(name string, now time.Time, keepAliveDue bool) (r report, more bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.reported && (!keepAliveDue || !u.holds()) {
		return report{}, false
	}
	u.reported = true
	r = report{Gateway: name, Tenants: map[string]tenantUsage{}, Waiting: map[string]int{}}
	for session, n := range u.waiting {
		r.Waiting[session] = n
	}
	at := stepAt(now)
	for tenant, a := range u.accounts {
		if !a.changed {
			continue
		}
		if len(r.Tenants) == maxReportTenants {
			u.reported = false
			return r, true
		}
		a.changed = false
		t := tenantUsage{Held: a.held, Waiting: a.waiting, Bytes: a.waitingBytes}
		a.requests.each(at, func(i, n int64) { t.Requests = append(t.Requests, [2]int64{i, n}) })
		a.tokens.each(at, func(i, n int64) { t.Tokens = append(t.Tokens, [2]int64{i, n}) })
		r.Tenants[tenant] = t
	}
	return r, false
}

// holds reports whether requests wait or are at work here. It is called with mu
// held.
func (u *Usage) holds() bool {
	for _, a := range u.accounts {
		if a.held > 0 {
			return true
		}
	}
	return false
}

// reportAll makes the next report a complete one.
func (u *Usage) reportAll() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, a := range u.accounts {
		a.changed = true
	}
	u.reported = len(u.accounts) == 0
}

// merge takes over the report of another gateway.
func (u *Usage) merge(r report, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	p := u.peers[r.Gateway]
	if p == nil {
		p = &peer{accounts: map[string]*account{}}
		u.peers[r.Gateway] = p
	}
	p.received, p.waiting = now, r.Waiting
	at := stepAt(now)
	for tenant, t := range r.Tenants {
		a := &account{held: max(t.Held, 0), waiting: max(t.Waiting, 0), waitingBytes: max(t.Bytes, 0)}
		a.requests.fill(t.Requests, at)
		a.tokens.fill(t.Tokens, at)
		p.accounts[tenant] = a
	}
}

// fill adds what another gateway has counted up to a step. It leaves out what
// that gateway's clock places outside of the last minute.
func (w *window) fill(counted [][2]int64, at int64) {
	for _, c := range counted {
		if c[0] > at-steps && c[0] <= at+1 {
			w.add(c[0], c[1])
		}
	}
}
