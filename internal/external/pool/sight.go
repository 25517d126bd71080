package pool

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue"
)

// drainTry limits the wait for the answer of one runner.
const drainTry = time.Second

// A sight is one observation of a pool.
type sight struct {
	facts
	held       map[string]bool // ids of requests that runners hold
	idle, busy int             // runners
}

// see observes the queue and the runners. Answers of runners may be newer than their
// records.
func (c *Client) see(ctx context.Context, s Spec, members []member, said map[string]queue.Runner, now time.Time) (sight, error) {
	found, settled, err := c.runners.of(ctx, s.Session)
	if err != nil {
		return sight{}, err
	}
	for name, r := range said {
		if old, ok := found[name]; ok && old.Instance == r.Instance && old.Version < r.Version {
			found[name] = r
		}
	}
	total, err := queue.New(c.bus).Depth(ctx, s.Session)
	if err != nil {
		return sight{}, err
	}
	out := sight{held: map[string]bool{}}
	out.settled, out.runners = !now.Before(settled), map[string]standing{}
	for _, r := range found {
		if n := r.Capacity(); out.slots == 0 || n < out.slots {
			out.slots = n // of the smallest: rather too many members than too few
		}
		for _, id := range r.Requests {
			out.held[id] = true
		}
		switch r.State {
		case queue.RunnerIdle:
			out.idle++
		case queue.RunnerBusy:
			out.busy++
		case queue.RunnerStarting, queue.RunnerDraining:
		}
	}
	// A request that has ended may be held a moment longer than it is there.
	out.working = min(len(out.held), total)
	out.waiting = total - out.working
	for _, m := range members {
		if one, ok := s.standing(m, found, len(out.held) > 0); ok {
			out.runners[m.Name] = one
		}
	}
	return out, nil
}

// standing is what the runner of a member does. When members cannot be told
// apart, one that is to go waits until nobody works.
func (s Spec) standing(m member, found map[string]queue.Runner, working bool) (standing, bool) {
	if s.Owner == "" {
		return standing{there: true, draining: true, working: working}, m.Phase == Draining
	}
	r, ok := found[s.runner(m.Name)]
	return standing{
		there: ok, working: len(r.Held) > 0, draining: r.State == queue.RunnerDraining,
		ready: r.State != queue.RunnerStarting,
	}, ok
}

// runner is the name of a member's runner.
func (s Spec) runner(member string) string {
	namespace, name := s.owner()
	return names.MemberRunner(namespace, name, member)
}

// tell sends drain orders, and records the answers. It reports whether a runner has
// no requests left.
func (c *Client) tell(ctx context.Context, s Spec, orders map[string]bool, said map[string]queue.Runner) (done bool) {
	for name, drain := range orders {
		runner := s.runner(name)
		try, cancel := context.WithTimeout(ctx, drainTry)
		r, err := bus.Call[queue.Runner](try, c.bus, names.DrainSubject(s.Session, runner), queue.DrainOrder{Drain: drain})
		cancel()
		if err != nil {
			continue // the next look repeats the order
		}
		said[runner] = r
		done = done || drain && len(r.Held) == 0
	}
	return done
}
