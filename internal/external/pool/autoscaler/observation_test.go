package autoscaler

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/serving/queue"
)

func TestNewObservation(t *testing.T) {
	named := Runner(func(member string) string { return "ns_" + member })
	members := []Member{{Name: "0", Phase: Active}, {Name: "1", Phase: Draining}, {Name: "2", Phase: Active}}
	runners := map[string]queue.Runner{
		named("0"): {State: queue.RunnerBusy, Slots: 4, Requests: []string{"a", "b"}, Held: make([]queue.HeldAttempt, 2)},
		named("1"): {State: queue.RunnerDraining, Slots: 2, Requests: []string{"b"}},
		"other":    {State: queue.RunnerIdle, Slots: 8},
		"starting": {State: queue.RunnerStarting, Slots: 8},
	}
	for name, c := range map[string]struct {
		depth, waiting, working int
	}{
		"NoneWait":          {2, 0, 2},
		"SomeWait":          {5, 3, 2},
		"HeldHaveJustEnded": {1, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := NewObservation(named, members, runners, c.depth, false)
			want := Observation{
				State: State{
					waiting: c.waiting, working: c.working, slots: 2, room: true,
					runners: map[string]runnerState{"0": busy, "1": drainedIdle},
				},
				held: map[string]bool{"a": true, "b": true}, idle: 1, busy: 1,
			}
			if d := cmp.Diff(want, got, cmp.AllowUnexported(Observation{}, State{}, runnerState{})); d != "" {
				t.Error(d)
			}
		})
	}
}

// What other groups compute needs no members, and what they have room for waits for
// a moment. A fallback computes what the pool is to take over.
func TestOthersOfAnObservation(t *testing.T) {
	named := Runner(func(member string) string { return "ns_" + member })
	held := func(n int) []queue.HeldAttempt { return make([]queue.HeldAttempt, n) }
	for name, c := range map[string]struct {
		other     queue.Runner
		elsewhere int
		room      bool
	}{
		"NoGroup":  {queue.Runner{State: queue.RunnerBusy, Slots: 2, Held: held(1)}, 1, true},
		"Weight":   {queue.Runner{State: queue.RunnerIdle, Traffic: &queue.Traffic{Group: "g", Weight: 1}}, 0, true},
		"Full":     {queue.Runner{State: queue.RunnerBusy, Slots: 2, Held: held(2), Traffic: &queue.Traffic{Group: "g", Weight: 1}}, 2, false},
		"Taken":    {queue.Runner{State: queue.RunnerBusy, Slots: 3, Taken: 2, Held: held(1), Traffic: &queue.Traffic{Group: "g", Weight: 1}}, 1, false},
		"Zero":     {queue.Runner{State: queue.RunnerBusy, Slots: 2, Held: held(1), Traffic: &queue.Traffic{Group: "g"}}, 1, false},
		"Fallback": {queue.Runner{State: queue.RunnerBusy, Slots: 2, Held: held(1), Traffic: &queue.Traffic{Group: "g", Weight: 1, Fallback: true}}, 0, false},
		"Starting": {queue.Runner{State: queue.RunnerStarting}, 0, false},
		"Draining": {queue.Runner{State: queue.RunnerDraining, Held: held(1)}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			runners := map[string]queue.Runner{
				named("0"): {State: queue.RunnerBusy, Slots: 4, Held: held(3), Traffic: &queue.Traffic{Group: "chat", Weight: 1}},
				"ns_other": c.other,
			}
			got := NewObservation(named, []Member{{Name: "0"}}, runners, 9, false)
			if got.elsewhere != c.elsewhere || got.room != c.room {
				t.Errorf("elsewhere %d, room %t; want %d, %t", got.elsewhere, got.room, c.elsewhere, c.room)
			}
			if got := NewObservation(nil, nil, runners, 9, false); got.elsewhere != 0 || got.room {
				t.Errorf("without names: elsewhere %d, room %t", got.elsewhere, got.room)
			}
		})
	}
}

// Members need not grow for a backlog that they take nothing of.
func TestUnusedMembers(t *testing.T) {
	named := Runner(func(member string) string { return "ns_" + member })
	own := func(weight int, fallback bool) queue.Runner {
		return queue.Runner{State: queue.RunnerIdle, Traffic: &queue.Traffic{Group: "chat", Weight: weight, Fallback: fallback}}
	}
	other := func(state queue.RunnerState, weight int, fallback bool) queue.Runner {
		return queue.Runner{State: state, Traffic: &queue.Traffic{Group: "other", Weight: weight, Fallback: fallback}}
	}
	unnamed := queue.Runner{State: queue.RunnerBusy}
	for name, c := range map[string]struct {
		own, others []queue.Runner
		want        bool
	}{
		"NoTraffic":               {[]queue.Runner{unnamed}, []queue.Runner{unnamed}, false},
		"NoneKnown":               {nil, []queue.Runner{unnamed}, false},
		"Weight":                  {[]queue.Runner{own(1, false)}, []queue.Runner{unnamed}, false},
		"Zero":                    {[]queue.Runner{own(0, false)}, nil, true},
		"ZeroFallback":            {[]queue.Runner{own(0, true)}, nil, true},
		"ZeroAndWeight":           {[]queue.Runner{own(0, false), own(5, false)}, nil, false},
		"FallbackAlone":           {[]queue.Runner{own(1, true)}, nil, false},
		"FallbackOfABusyOne":      {[]queue.Runner{own(1, true)}, []queue.Runner{unnamed}, true},
		"FallbackOfAStartingOne":  {[]queue.Runner{own(1, true)}, []queue.Runner{other(queue.RunnerStarting, 1, false)}, false},
		"FallbackOfADrainingOne":  {[]queue.Runner{own(1, true)}, []queue.Runner{other(queue.RunnerDraining, 1, false)}, false},
		"FallbackBesideAZero":     {[]queue.Runner{own(1, true)}, []queue.Runner{other(queue.RunnerIdle, 0, false)}, false},
		"FallbackBesideAFallback": {[]queue.Runner{own(1, true)}, []queue.Runner{other(queue.RunnerIdle, 1, true)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var members []Member
			runners := map[string]queue.Runner{}
			for i, r := range c.own {
				members = append(members, Member{Name: fmt.Sprint(i)})
				runners[named(fmt.Sprint(i))] = r
			}
			for i, r := range c.others {
				runners[fmt.Sprint("ns_other-", i)] = r
			}
			if got := NewObservation(named, members, runners, 9, false); got.unused != c.want {
				t.Errorf("unused = %t, want %t", got.unused, c.want)
			}
		})
	}
}

func TestNewest(t *testing.T) {
	record := queue.Runner{Instance: "i", Version: 5}
	for name, c := range map[string]struct {
		answer queue.Runner
		taken  bool
	}{
		"Newer":           {queue.Runner{Instance: "i", Version: 6}, true},
		"Same":            {queue.Runner{Instance: "i", Version: 5, Slots: 9}, false},
		"Older":           {queue.Runner{Instance: "i", Version: 4}, false},
		"AnotherInstance": {queue.Runner{Instance: "j", Version: 6}, false},
	} {
		t.Run(name, func(t *testing.T) {
			want := record
			if c.taken {
				want = c.answer
			}
			got := Newest(map[string]queue.Runner{"r": record}, map[string]queue.Runner{"r": c.answer, "gone": c.answer})
			if d := cmp.Diff(map[string]queue.Runner{"r": want}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRunnerStateOfAMember(t *testing.T) {
	named := Runner(func(member string) string { return "ns_" + member })
	held := queue.Runner{State: queue.RunnerDraining, Held: make([]queue.HeldAttempt, 2)}
	for name, c := range map[string]struct {
		runner Runner
		member Member
		found  map[string]queue.Runner
		want   runnerState
		ok     bool
	}{
		"Absent":         {named, Member{Name: "0"}, nil, runnerState{ready: true}, false},
		"Idle":           {named, Member{Name: "0"}, map[string]queue.Runner{named("0"): {State: queue.RunnerIdle}}, ready, true},
		"Taken":          {named, Member{Name: "0"}, map[string]queue.Runner{named("0"): {State: queue.RunnerIdle, Slots: 8, Taken: 7}}, runnerState{exists: true, ready: true, taken: 7}, true},
		"Starting":       {named, Member{Name: "0"}, map[string]queue.Runner{named("0"): {State: queue.RunnerStarting}}, runnerState{exists: true}, true},
		"DrainsAndHolds": {named, Member{Name: "0"}, map[string]queue.Runner{named("0"): held}, drainingBusy, true},
		"OfAnother":      {named, Member{Name: "1"}, map[string]queue.Runner{named("0"): held}, runnerState{ready: true}, false},
		"NoOwner":        {nil, Member{Name: "0", Phase: Draining}, nil, runnerState{exists: true, draining: true, working: true}, true},
		"NoOwnerActive":  {nil, Member{Name: "0", Phase: Active}, nil, runnerState{exists: true, draining: true, working: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := c.runner.state(c.member, c.found, true); got != c.want || ok != c.ok {
				t.Errorf("runnerState = %+v, %t; want %+v, %t", got, ok, c.want, c.ok)
			}
		})
	}
}

// If it is not known which runner is whose, a draining member works as long as any
// runner holds a request.
func TestDrainingWithoutNames(t *testing.T) {
	draining := []Member{{Name: "0", Phase: Draining}, {Name: "1", Phase: Active}}
	for _, requests := range [][]string{nil, {"a"}} {
		o := NewObservation(nil, draining, map[string]queue.Runner{"r": {State: queue.RunnerBusy, Requests: requests}}, 1, false)
		want := map[string]runnerState{"0": {exists: true, draining: true, working: len(requests) > 0}}
		if d := cmp.Diff(want, o.runners, cmp.AllowUnexported(runnerState{})); d != "" {
			t.Errorf("%d requests are held: %s", len(requests), d)
		}
	}
}

func TestNumbersOfAnObservation(t *testing.T) {
	o := NewObservation(nil, nil, map[string]queue.Runner{
		"a": {State: queue.RunnerBusy, Requests: []string{"x"}}, "b": {State: queue.RunnerBusy}, "c": {State: queue.RunnerIdle}, "d": {State: queue.RunnerStarting},
	}, 4, true)
	waiting, working := o.Requests()
	idle, busy := o.Runners()
	if waiting != 3 || working != 1 || idle != 1 || busy != 2 || !o.settled || !o.Holds("x") || o.Holds("y") {
		t.Errorf("%d wait, %d are held, %d runners are idle and %d busy: %+v", waiting, working, idle, busy, o)
	}
}
