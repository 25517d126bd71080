package main_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

// A leader that is suspended during its work, and resumes when another one leads,
// has no effect: no request is lost, assigned again or truncated, and the outcome of
// each is that of the new leader.
func TestStoppedLeaderChangesNothing(t *testing.T) {
	t.Parallel()
	f := newStack(t)
	gate := make(chan struct{})
	var engines []*enginetest.Engine
	for i := range 2 {
		e := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
			if r.Last() == "slow" {
				return enginetest.Reply{Pieces: []string{"one ", "two ", "three"}, Gate: gate}
			}
			return enginetest.Echo(r)
		})
		engines = append(engines, e)
		f.runner(fmt.Sprintf("r%d", i), e)
	}
	old := f.dispatcher("old")
	old.Expect(t, `msg=leading|"leading"`)
	running := f.ask("req_running", "slow") // keeps one runner busy during the whole test
	running.begun(t)
	waittest.Send(t, "a piece passes", gate, struct{}{})
	f.want(f.ask("req_before", "before"), "before")

	// It is suspended while requests arrive: some are in transit to it.
	var during []*asked
	for i := range 20 {
		if i == 5 {
			old.Signal(t, syscall.SIGSTOP)
		}
		during = append(during, f.ask(fmt.Sprintf("req_during_%d", i), fmt.Sprint("during ", i)))
	}
	next := f.dispatcher("next")
	next.Expect(t, `msg=leading|"leading"`)
	for i, a := range during {
		if o := f.want(a, fmt.Sprint("during ", i)); o.Attempts != 1 {
			t.Errorf("%s took %d attempts, want 1", a.req.ID, o.Attempts)
		}
	}
	// The other runner is busy, too, and requests wait, when the old leader resumes
	// with its outdated state.
	second := f.ask("req_second", "slow")
	second.begun(t)
	var waiting []*asked
	for i := range 10 {
		waiting = append(waiting, f.ask(fmt.Sprintf("req_waiting_%d", i), fmt.Sprint("waiting ", i)))
	}
	old.Signal(t, syscall.SIGCONT)
	old.Expect(t, `no longer leading`)
	for range 5 {
		waittest.Send(t, "a piece passes", gate, struct{}{})
	}
	f.want(running, "one two three")
	f.want(second, "one two three")
	for i, a := range waiting {
		if o := f.want(a, fmt.Sprint("waiting ", i)); o.Attempts != 1 {
			t.Errorf("%s took %d attempts, want 1", a.req.ID, o.Attempts)
		}
	}
	f.settled()

	// No engine got a request twice.
	times := map[string]int{}
	for _, e := range engines {
		for _, r := range e.Requests() {
			times[r.Last()]++
		}
	}
	delete(times, "Hi") // the requests that prove that the engines generate
	for text, n := range times {
		if want := map[bool]int{true: 2, false: 1}[text == "slow"]; n != want {
			t.Errorf("%q: got %d requests, want %d", text, n, want)
		}
	}
	outcomes := map[string]int{}
	if err := queue.New(f.bus).Outcomes(f.ctx(), "*", time.Time{}, func(o queue.Outcome) bool {
		outcomes[o.Request]++
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if len(outcomes) != 33 {
		t.Errorf("%d requests have outcomes, want 33", len(outcomes))
	}
	for id, n := range outcomes {
		if n != 1 {
			t.Errorf("request %s has %d outcomes", id, n)
		}
	}
}
