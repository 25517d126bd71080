package autoscaler

import "github.com/gorizond/koldun/internal/serving/queue"

// An Observation is the state of a pool at one time, with the numbers of its status.
type Observation struct {
	State
	held       map[string]bool // ids of requests that runners hold
	idle, busy int             // runners
}

// Requests returns how many requests wait, and how many runners hold.
func (o *Observation) Requests() (waiting, working int) { return o.waiting, o.working }

// Runners returns how many runners are idle and busy.
func (o *Observation) Runners() (idle, busy int) { return o.idle, o.busy }

// Holds reports whether a runner holds a request.
func (o *Observation) Holds(id string) bool { return o.held[id] }

// Newest returns the records, each replaced by a newer answer of the same runner.
// It changes records.
func Newest(records, answers map[string]queue.Runner) map[string]queue.Runner {
	for name, r := range answers {
		if old, ok := records[name]; ok && old.Instance == r.Instance && old.Version < r.Version {
			records[name] = r
		}
	}
	return records
}

// A Runner returns the name of a member's runner. Nil: it is not known which runner
// is whose.
type Runner func(member string) string

// NewObservation combines the runners of a session, by name, with the number of
// requests that have not ended. settled is as in State.
func NewObservation(runner Runner, members []Member, runners map[string]queue.Runner, depth int, settled bool) Observation {
	o := Observation{held: map[string]bool{}}
	o.settled = settled
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
	o.addOthers(runner, members, runners)
	// A runner may still hold a request that has just left the queue.
	o.working = min(len(o.held), depth)
	o.waiting = depth - o.working
	for _, m := range members {
		if state, ok := runner.state(m, runners, len(o.held) > 0); ok {
			o.runners[m.Name] = state
		}
	}
	return o
}

// addOthers adds what runners outside the pool compute, whether they have room, and
// whether they take all that waits, if it is known which these are.
func (o *Observation) addOthers(runner Runner, members []Member, runners map[string]queue.Runner) {
	if runner == nil {
		return
	}
	own := map[string]bool{}
	for _, m := range members {
		own[runner(m.Name)] = true
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

// state returns the state of a member's runner, and whether there is one. If it is
// not known which runner is whose, a draining member works as long as any runner does.
func (r Runner) state(m Member, runners map[string]queue.Runner, anyWorking bool) (runnerState, bool) {
	if r == nil {
		return runnerState{exists: true, draining: true, working: anyWorking}, m.Phase == Draining
	}
	found, ok := runners[r(m.Name)]
	return runnerState{
		exists: ok, working: len(found.Held) > 0, draining: found.State == queue.RunnerDraining,
		ready: found.State != queue.RunnerStarting, taken: found.Taken,
	}, ok
}
