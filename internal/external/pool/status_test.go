package pool

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/pace"
	"github.com/gorizond/koldun/internal/external/pool/autoscaler"
	"github.com/gorizond/koldun/internal/serving/queue"
)

var start = time.Unix(1_000_000, 0)

func TestCutKeepsWholeCharacters(t *testing.T) {
	short := strings.Repeat("ж", maxMessage)
	if got := cut(short); got != short {
		t.Error("a message that fits is cut")
	}
	if got, want := cut(short+"x"), strings.Repeat("ж", maxMessage-1)+"…"; got != want {
		t.Errorf("cut to %q", got)
	}
}

func TestStatusEqual(t *testing.T) {
	at, later := start, start.Add(time.Second)
	same := Status{Members: []Member{{Name: "0"}}, NextMember: 1, LastActivity: &at}
	copied := at
	if other := (Status{Members: []Member{{Name: "0"}}, NextMember: 1, LastActivity: &copied}); !same.equal(other) {
		t.Error("the same status is not equal")
	}
	for name, change := range map[string]func(s *Status){
		"Members":      func(s *Status) { s.Members = nil },
		"NextMember":   func(s *Status) { s.NextMember++ },
		"Backlog":      func(s *Status) { s.Backlog++ },
		"InFlight":     func(s *Status) { s.InFlight++ },
		"Oldest":       func(s *Status) { s.OldestAgeSeconds++ },
		"Idle":         func(s *Status) { s.IdleRunners++ },
		"Busy":         func(s *Status) { s.BusyRunners++ },
		"Template":     func(s *Status) { s.Template = "b" },
		"NoActivity":   func(s *Status) { s.LastActivity = nil },
		"LastActivity": func(s *Status) { s.LastActivity = &later },
	} {
		t.Run(name, func(t *testing.T) {
			other := same
			change(&other)
			if same.equal(other) || other.equal(same) {
				t.Error("another status is equal")
			}
		})
	}
}

func TestAPoolIsOnlyObserved(t *testing.T) {
	c := &Client{}
	if c.Create(t.Context(), Spec{}) != nil || c.Update(t.Context(), Spec{}) != nil || c.Delete(t.Context(), Spec{}) != nil {
		t.Error("creating, updating and deleting have nothing to do")
	}
	if (Spec{Owner: "o", ID: "i"}).id() != "i" || (Spec{Owner: "o"}).id() != "o" {
		t.Error("the id of a pool is its ID, or else its Owner")
	}
}

func TestNewStatus(t *testing.T) {
	needed := start.Add(500 * time.Millisecond)
	second := start.UTC().Truncate(time.Second)
	earlier := second.Add(-time.Hour)
	s := Spec{Owner: "ns/chat", Dllama: &external.Template{Annotations: map[string]string{annotationTemplate: "a"}}, DllamaStates: map[string]DllamaState{"chat-1": {ReadyWorkers: 2, Reason: "Waiting", Message: "1 of 3"}, "chat-0": {Ready: true}}}
	runners := map[string]queue.Runner{"held": {State: queue.RunnerBusy, Requests: []string{"a", "b"}}, "idle": {State: queue.RunnerIdle}}
	for _, name := range []string{"b", "c", "d"} {
		runners[name] = queue.Runner{State: queue.RunnerBusy}
	}
	o := autoscaler.NewObservation(nil, nil, runners, 5, true)
	p := autoscaler.Plan{Members: []autoscaler.Member{{Name: "0", Phase: autoscaler.Active}, {Name: "1", Phase: autoscaler.Draining}}, Next: 7, NeededAt: []time.Time{needed, start}}
	want := Status{
		Members:  []Member{{Name: "0", Phase: autoscaler.Active, Ready: true}, {Name: "1", Phase: autoscaler.Draining, ReadyWorkers: 2, Reason: "Waiting", Message: "1 of 3"}},
		Template: "a", NextMember: 7, Backlog: 3, InFlight: 2, IdleRunners: 1, BusyRunners: 4, LastActivity: &second,
	}
	if d := cmp.Diff(want, newStatus(s, p, o, &earlier)); d != "" {
		t.Error(d)
	}
	p.NeededAt = nil
	if got := newStatus(s, p, o, &earlier).LastActivity; got != &earlier {
		t.Errorf("last activity %v of a plan without needs, want the last one", got)
	}
}

func member0(ready bool, workers int) Status {
	return Status{Members: []Member{{Name: "0", Phase: autoscaler.Active, Ready: ready, ReadyWorkers: workers}}}
}

// Changes of members and of readiness are reported at once, others later.
func TestReportAt(t *testing.T) {
	two := Status{Members: []Member{{Name: "0", Phase: autoscaler.Active, Ready: true}, {Name: "1", Phase: autoscaler.Active}}}
	bothServe := Status{Members: []Member{{Name: "0", Phase: autoscaler.Active, Ready: true}, {Name: "1", Phase: autoscaler.Active, Ready: true}}}
	cases := map[string]struct {
		reported, current Status
		want              time.Duration // after the last report; negative: never
	}{
		"NothingNew":     {member0(true, 0), member0(true, 0), -1},
		"Member":         {member0(true, 0), two, 0},
		"Template":       {two, Status{Members: two.Members, Template: "b"}, 0},
		"Phase":          {member0(true, 0), Status{Members: []Member{{Name: "0", Phase: autoscaler.Draining, Ready: true}}}, 0},
		"FirstServes":    {member0(false, 0), member0(true, 0), 0},
		"NoneServes":     {member0(true, 0), member0(false, 0), 0},
		"AnotherServes":  {two, bothServe, dllamaStateInterval},
		"Workers":        {member0(false, 1), member0(false, 2), dllamaStateInterval},
		"Numbers":        {Status{IdleRunners: 1}, Status{IdleRunners: 2}, numbersInterval},
		"AgeOfWhatWaits": {Status{Backlog: 1}, Status{Backlog: 1}, numbersInterval},
		"DrainedIsGone":  {Status{Members: []Member{{Name: "0", Phase: autoscaler.Drained}}}, Status{}, dllamaStateInterval},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := &observed{reported: c.reported, current: c.current, reportedAt: start}
			at := w.reportAt(start)
			if c.want < 0 {
				if !at.IsZero() {
					t.Errorf("a report is due at %v, though nothing has changed", at)
				}
				return
			}
			if !at.Equal(start.Add(c.want)) {
				t.Errorf("the report is due after %v, want %v", at.Sub(start), c.want)
			}
		})
	}
}

// The reported status changes no more often than the budget of the composite allows,
// and the newest status is reported in the end.
func TestReportsArePaced(t *testing.T) {
	w := &observed{}
	now, changes := start, 0
	var last Status
	for i := range 600 { // five minutes of members that come and go
		now = now.Add(minInterval)
		w.current = Status{Members: []Member{{Name: fmt.Sprint(i), Phase: autoscaler.Active}}}
		if status := w.report(now); !status.equal(last) {
			changes++
			last = status
		}
	}
	if limit := (pace.Burst + now.Sub(start).Seconds()*pace.PerSecond) / pace.Change; float64(changes) > limit+1 {
		t.Errorf("%d changes were reported, and the budget allows %.0f", changes, limit)
	}
	if status := w.report(w.reportAt(now)); !slices.Equal(status.Members, w.current.Members) {
		t.Errorf("reported is %v, want %v", status.Members, w.current.Members)
	}
}
