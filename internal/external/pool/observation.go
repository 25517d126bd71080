package pool

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue"
)

// An observation is the state of a pool at one time, with the numbers of its status.
type observation struct {
	poolState
	held       map[string]bool // ids of requests that runners hold
	idle, busy int             // runners
}

// observe reads the queue and the runners. The answers of runners to drain orders
// may be newer than their records.
func (c *Client) observe(ctx context.Context, s Spec, members []member, answers map[string]queue.Runner, now time.Time) (observation, error) {
	found, settled, err := c.runners.list(ctx, s.Session)
	if err != nil {
		return observation{}, err
	}
	depth, err := queue.New(c.bus).Depth(ctx, s.Session)
	if err != nil {
		return observation{}, err
	}
	o := newObservation(s, members, newest(found, answers), depth)
	o.settled = !now.Before(settled)
	return o, nil
}

// newest returns the records, each replaced by a newer answer of the same runner.
// It changes records.
func newest(records, answers map[string]queue.Runner) map[string]queue.Runner {
	for name, r := range answers {
		if old, ok := records[name]; ok && old.Instance == r.Instance && old.Version < r.Version {
			records[name] = r
		}
	}
	return records
}

// newObservation combines the runners of a session, by name, with the number of
// requests that have not ended.
func newObservation(s Spec, members []member, runners map[string]queue.Runner, depth int) observation {
	o := observation{held: map[string]bool{}}
	o.runners = map[string]runnerState{}
	for _, r := range runners {
		if n := r.Capacity(); o.slots == 0 || n < o.slots {
			o.slots = n // of the smallest: rather too many members than too few
		}
		for _, id := range r.Requests {
			o.held[id] = true
		}
		switch r.State {
		case queue.RunnerIdle:
			o.idle++
		case queue.RunnerBusy:
			o.busy++
		case queue.RunnerStarting, queue.RunnerDraining:
		}
	}
	o.addOthers(s, members, runners)
	// A runner may still hold a request that has just left the queue.
	o.working = min(len(o.held), depth)
	o.waiting = depth - o.working
	for _, m := range members {
		if state, ok := s.runnerState(m, runners, len(o.held) > 0); ok {
			o.runners[m.Name] = state
		}
	}
	return o
}

// addOthers adds what runners outside the pool compute, whether they have room, and
// whether they take all that waits. Without an owner, it is unknown which these are.
func (o *observation) addOthers(s Spec, members []member, runners map[string]queue.Runner) {
	if s.Owner == "" {
		return
	}
	own := map[string]bool{}
	for _, m := range members {
		own[s.runner(m.Name)] = true
	}
	known, takes, helps, led := false, false, false, false
	for name, r := range runners {
		weight, fallback := queue.DefaultWeight, false
		if r.Traffic != nil {
			weight, fallback = r.Traffic.Weight, r.Traffic.Fallback
		}
		if own[name] {
			known = true
			takes = takes || weight > 0 && !fallback
			helps = helps || weight > 0 && fallback
			continue
		}
		if fallback {
			continue
		}
		o.elsewhere += len(r.Held)
		primary := weight > 0 && (r.State == queue.RunnerIdle || r.State == queue.RunnerBusy)
		led = led || primary
		o.room = o.room || primary && r.Busy() < r.Capacity()
	}
	o.unused = known && !takes && (!helps || led)
}

// runnerState returns the state of a member's runner, and whether there is one.
// Without an owner, runners cannot be assigned to members: a draining member then
// works as long as any runner does.
func (s Spec) runnerState(m member, runners map[string]queue.Runner, anyWorking bool) (runnerState, bool) {
	if s.Owner == "" {
		return runnerState{exists: true, draining: true, working: anyWorking}, m.Phase == Draining
	}
	r, ok := runners[s.runner(m.Name)]
	return runnerState{
		exists: ok, working: len(r.Held) > 0, draining: r.State == queue.RunnerDraining,
		ready: r.State != queue.RunnerStarting,
	}, ok
}

// runner returns the name of a member's runner.
func (s Spec) runner(member string) string {
	namespace, name := s.owner()
	return names.MemberRunner(namespace, name, member)
}
