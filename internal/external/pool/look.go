package pool

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/external/pace"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue"
)

const (
	// numbersEvery is the minimum interval of updates that change only numbers.
	numbersEvery = 30 * time.Second
	// standingEvery is the minimum interval of updates of the state of Dllamas,
	// except for the first that serves and the last that ceases to.
	standingEvery = 5 * time.Second
	// attentive is the poll interval of a pool that may change without an event.
	attentive = 5 * time.Second
	tries     = 8 // attempts to store a decision
)

// A watched is a pool that this process observes.
type watched struct {
	holders int // guarded by Client.mu

	mu    sync.Mutex // held during a look; guards the fields below
	spec  Spec
	view  Status // of the last look
	shows Status // the last returned status
	at    time.Time
	again time.Time // time of the next look; zero: only after events
	// budget limits status updates, which count against the pool's composite.
	budget pace.Budget
}

// hold returns the pool of a spec. The last release removes it.
func (c *Client) hold(s Spec) (w *watched, release func()) {
	key := names.PoolKey(s.Session, s.id())
	c.mu.Lock()
	defer c.mu.Unlock()
	w = c.pools[key]
	if w == nil {
		w = &watched{}
		c.pools[key] = w
	}
	w.holders++
	return w, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if w.holders--; w.holders == 0 {
			delete(c.pools, key)
		}
	}
}

// look observes the pool, decides, stores the decision and sends drain orders.
func (w *watched) look(ctx context.Context, c *Client, s Spec) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spec = s
	return w.decide(ctx, c, s)
}

// lookAgain is like look with the spec of the last look, or else the given one.
func (w *watched) lookAgain(ctx context.Context, c *Client, s Spec) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.spec.Session != "" {
		s = w.spec
	}
	return w.decide(ctx, c, s)
}

// decide makes and stores a decision. The caller holds mu.
func (w *watched) decide(ctx context.Context, c *Client, s Spec) error {
	if !c.bus.Connected() {
		return fault.Errorf(fault.Transient, "cannot observe pool %q: NATS cannot be reached", s.Session)
	}
	said := map[string]queue.Runner{}
	for range tries {
		now := time.Now()
		kept, revision, err := c.load(ctx, s, now)
		if err != nil {
			return err
		}
		sight, err := c.see(ctx, s, kept.Plan.Members, said, now)
		if err != nil {
			return err
		}
		next, again := kept.Plan.step(s.limits(), sight.facts, now)
		if revision == 0 || kept.matters(next, s.limits(), now) {
			err := c.save(ctx, s, next, revision, now)
			if fault.Is(err, fault.Conflict) {
				continue // another process has decided
			}
			if err != nil {
				return err
			}
		}
		if c.tell(ctx, s, next.orders(sight.facts), said) {
			continue // a runner has no requests left: decide again at once
		}
		return w.take(ctx, c, s, next, again, sight, now)
	}
	return fault.Errorf(fault.Conflict, "cannot observe pool %q: others change it again and again", s.Session)
}

// take applies a decision to the view.
func (w *watched) take(ctx context.Context, c *Client, s Spec, p plan, again time.Time, sight sight, now time.Time) error {
	w.again = again
	restless := sight.waiting > 0 || p.active() < len(p.Members)
	if at := now.Add(attentive); restless && (again.IsZero() || at.Before(again)) {
		w.again = at
	}
	w.view = Status{
		NextMember: p.Next, Backlog: sight.waiting, InFlight: sight.working,
		IdleRunners: sight.idle, BusyRunners: sight.busy, LastActivity: w.view.LastActivity,
	}
	for _, m := range p.Members {
		d := s.Standing[s.dllama(m.Name)]
		w.view.Members = append(w.view.Members, Member{
			Name: m.Name, Phase: m.Phase, Ready: d.Ready, ReadyWorkers: d.ReadyWorkers, Reason: d.Reason, Message: d.Message,
		})
	}
	if len(p.Needed) > 0 {
		last := p.Needed[0].UTC().Truncate(time.Second)
		w.view.LastActivity = &last
	}
	if sight.waiting == 0 || !w.due(now) {
		return nil
	}
	oldest, err := queue.New(c.bus).Oldest(ctx, s.Session, func(id string) bool { return sight.held[id] })
	if err == nil && !oldest.IsZero() {
		w.view.OldestAgeSeconds = int(now.Sub(oldest).Seconds())
	}
	return err
}

// dueAt returns when to return the view as the status; zero means never.
func (w *watched) dueAt(now time.Time) (at time.Time) {
	switch {
	case w.at.IsZero():
		return now
	case !sameMembers(w.view.Members, w.shows.Members), w.view.serves() != w.shows.serves():
		at = w.at
	case !slices.Equal(w.view.Members, w.shows.Members):
		at = w.at.Add(standingEvery)
	case w.view.Backlog > 0, !w.view.equal(w.shows):
		at = w.at.Add(numbersEvery)
	default:
		return time.Time{}
	}
	if left := w.budget.Left(pace.Change, now); left.After(at) {
		return left
	}
	return at
}

// due reports whether to return the view as the status.
func (w *watched) due(now time.Time) bool {
	at := w.dueAt(now)
	return !at.IsZero() && !at.After(now)
}

// shown returns the status at a time after a look.
func (w *watched) shown(now time.Time) Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.due(now) {
		w.shows, w.at = w.view, now
		w.budget.Take(pace.Change, now)
	}
	return w.shows
}

// serves reports whether any member serves.
func (s Status) serves() bool {
	return slices.ContainsFunc(s.Members, func(m Member) bool { return m.Ready })
}

// sameMembers reports whether both lists have the same members in the same phases,
// ignoring drained ones.
func sameMembers(a, b []Member) bool {
	left := func(m []Member) []Member {
		return slices.DeleteFunc(slices.Clone(m), func(m Member) bool { return m.Phase == Drained })
	}
	return slices.EqualFunc(left(a), left(b), func(a, b Member) bool { return a.Name == b.Name && a.Phase == b.Phase })
}
