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
	// numbersEvery is how often numbers are shown that are no reason to act.
	numbersEvery = 30 * time.Second
	// standingEvery is how often it is shown at most how Dllamas do, unless it is
	// the first that serves, or the last that does not.
	standingEvery = 5 * time.Second
	// attentive is how often a pool is looked at without any news while there
	// is something in it that may end in silence.
	attentive = 5 * time.Second
	tries     = 8 // to be the one who decides
)

// A watched pool is one that is looked at by this process.
type watched struct {
	holders int // guarded by Client.mu

	mu    sync.Mutex // held during a look; guards the fields below
	spec  Spec
	view  Status // as of the last look
	shows Status // what is shown
	at    time.Time
	again time.Time // zero: not without news
	// budget of what is shown: whoever composes the pool has one of updates.
	budget pace.Budget
}

// hold returns the pool of a spec, which release forgets unless others hold it.
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

// look looks at the pool, decides, keeps it and tells the runners.
func (w *watched) look(ctx context.Context, c *Client, s Spec) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spec = s
	return w.decide(ctx, c, s)
}

// lookAgain is look with the newest spec: that of the last look, or else the
// one given.
func (w *watched) lookAgain(ctx context.Context, c *Client, s Spec) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.spec.Session != "" {
		s = w.spec
	}
	return w.decide(ctx, c, s)
}

// decide is called with mu held.
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
				continue // somebody else decides
			}
			if err != nil {
				return err
			}
		}
		if c.tell(ctx, s, next.orders(sight.facts), said) {
			continue // a runner has nothing left, so it need not be waited for
		}
		return w.take(ctx, c, s, next, again, sight, now)
	}
	return fault.Errorf(fault.Conflict, "cannot observe pool %q: others change it again and again", s.Session)
}

// take makes a decision the one that is shown.
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

// dueAt is when the view is to be shown; zero means that there is no need to.
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

// due reports whether the view is to be shown.
func (w *watched) due(now time.Time) bool {
	at := w.dueAt(now)
	return !at.IsZero() && !at.After(now)
}

// shown is what to show at a moment after a look.
func (w *watched) shown(now time.Time) Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.due(now) {
		w.shows, w.at = w.view, now
		w.budget.Take(pace.Change, now)
	}
	return w.shows
}

// serves reports whether a member does.
func (s Status) serves() bool {
	return slices.ContainsFunc(s.Members, func(m Member) bool { return m.Ready })
}

// sameMembers tells whether there are the same members in the same phases. Those
// that are drained are left aside: nobody keeps them.
func sameMembers(a, b []Member) bool {
	left := func(m []Member) []Member {
		return slices.DeleteFunc(slices.Clone(m), func(m Member) bool { return m.Phase == Drained })
	}
	return slices.EqualFunc(left(a), left(b), func(a, b Member) bool { return a.Name == b.Name && a.Phase == b.Phase })
}
