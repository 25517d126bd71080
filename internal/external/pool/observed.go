package pool

import (
	"context"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/external/pace"
	"github.com/gorizond/koldun/internal/external/pool/autoscaler"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

const (
	// drainTimeout limits the wait for the answer of one runner.
	drainTimeout = time.Second
	// maxAttempts limits the attempts to store a plan in competition with other
	// processes.
	maxAttempts = 8
)

// An observed is a pool that this process observes.
type observed struct {
	refs int // guarded by Client.mu

	mu         sync.Mutex // held while reconciling; guards the fields below
	spec       Spec
	current    Status    // of the last reconcile
	reported   Status    // the last returned status
	reportedAt time.Time // zero: never
	next       time.Time // time of the next reconcile; zero: only after events
	// budget limits status updates, which count against the pool's composite.
	budget pace.Budget
}

// acquire returns the pool of a spec. The last release removes it.
func (c *Client) acquire(s Spec) (p *observed, release func()) {
	key := names.PoolKey(s.Session, s.id())
	c.mu.Lock()
	defer c.mu.Unlock()
	p = c.pools[key]
	if p == nil {
		p = &observed{}
		c.pools[key] = p
	}
	p.refs++
	return p, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if p.refs--; p.refs == 0 {
			delete(c.pools, key)
		}
	}
}

// reconcile observes the pool, plans its members, stores the plan and sends drain
// orders.
func (p *observed) reconcile(ctx context.Context, c *Client, s Spec) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spec = s
	return p.reconcileLocked(ctx, c, s)
}

// reconcileLast is like reconcile with the spec of the last reconcile, or else the
// given one.
func (p *observed) reconcileLast(ctx context.Context, c *Client, s Spec) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spec.Session != "" {
		s = p.spec
	}
	return p.reconcileLocked(ctx, c, s)
}

// reconcileLocked requires mu.
func (p *observed) reconcileLocked(ctx context.Context, c *Client, s Spec) error {
	if !c.bus.Connected() {
		return fault.Errorf(fault.Transient, "cannot observe pool %q: NATS cannot be reached", s.Session)
	}
	answers := map[string]queue.Runner{}
	for range maxAttempts {
		now := time.Now()
		stored, revision, err := c.load(ctx, s, now)
		if err != nil {
			return err
		}
		o, err := c.observe(ctx, s, stored.Plan.Members, answers, now)
		if err != nil {
			return err
		}
		next, again := stored.Plan.Step(s.limits(), o.State, now)
		if revision == 0 || stored.Outdated(next, s.limits(), now) {
			err := c.save(ctx, s, next, revision, now)
			if fault.Is(err, fault.Conflict) {
				continue // another process has stored a plan
			}
			if err != nil {
				return err
			}
		}
		if c.sendDrainOrders(ctx, s, next.Orders(o.State), answers) {
			continue // a runner has no requests left: plan again at once
		}
		return p.update(ctx, c, s, next, again, o, now)
	}
	return fault.Errorf(fault.Conflict, "cannot observe pool %q: other processes changed it %d times meanwhile", s.Session, maxAttempts)
}

// sendDrainOrders sends drain orders, and adds the answers. It reports whether a
// draining runner has no requests left.
func (c *Client) sendDrainOrders(ctx context.Context, s Spec, orders map[string]bool, answers map[string]queue.Runner) (drained bool) {
	for member, drain := range orders {
		runner := s.runner(member)
		try, cancel := context.WithTimeout(ctx, drainTimeout)
		r, err := bus.Call[queue.Runner](try, c.bus, names.DrainSubject(s.Session, runner), queue.DrainOrder{Drain: drain})
		cancel()
		if err != nil {
			continue // the next reconcile repeats the order
		}
		answers[runner] = r
		drained = drained || drain && len(r.Held) == 0
	}
	return drained
}

// update replaces the status, and sets the time of the next reconcile.
func (p *observed) update(ctx context.Context, c *Client, s Spec, next autoscaler.Plan, again time.Time, o autoscaler.Observation, now time.Time) error {
	p.next = next.NextStep(o.State, again, now)
	p.current = newStatus(s, next, o, p.current.LastActivity)
	if waiting, _ := o.Requests(); waiting == 0 || !p.reportDue(now) {
		return nil
	}
	oldest, err := queue.New(c.bus).Oldest(ctx, s.Session, o.Holds)
	if err == nil && !oldest.IsZero() {
		p.current.OldestAgeSeconds = int(now.Sub(oldest).Seconds())
	}
	return err
}

// report returns the status at a time after a reconcile: the current one, or the
// last reported one if a report is not due.
func (p *observed) report(now time.Time) Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reportDue(now) {
		p.reported, p.reportedAt = p.current, now
		p.budget.Take(pace.Change, now)
	}
	return p.reported
}
