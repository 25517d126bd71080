package pool

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/external/pace"
)

func member0(ready bool, workers int) Status {
	return Status{Members: []Member{{Name: "0", Phase: Active, Ready: ready, ReadyWorkers: workers}}}
}

// What matters is shown at once, the rest later.
func TestWhenAViewIsShown(t *testing.T) {
	two := Status{Members: []Member{{Name: "0", Phase: Active, Ready: true}, {Name: "1", Phase: Active}}}
	bothServe := Status{Members: []Member{{Name: "0", Phase: Active, Ready: true}, {Name: "1", Phase: Active, Ready: true}}}
	cases := map[string]struct {
		shows, view Status
		want        time.Duration // after it was shown; negative: never
	}{
		"NothingNew":     {member0(true, 0), member0(true, 0), -1},
		"Member":         {member0(true, 0), two, 0},
		"Phase":          {member0(true, 0), Status{Members: []Member{{Name: "0", Phase: Draining, Ready: true}}}, 0},
		"FirstServes":    {member0(false, 0), member0(true, 0), 0},
		"NoneServes":     {member0(true, 0), member0(false, 0), 0},
		"AnotherServes":  {two, bothServe, standingEvery},
		"Workers":        {member0(false, 1), member0(false, 2), standingEvery},
		"Numbers":        {Status{IdleRunners: 1}, Status{IdleRunners: 2}, numbersEvery},
		"AgeOfWhatWaits": {Status{Backlog: 1}, Status{Backlog: 1}, numbersEvery},
		"DrainedIsGone":  {Status{Members: []Member{{Name: "0", Phase: Drained}}}, Status{}, standingEvery},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := &watched{shows: c.shows, view: c.view, at: start}
			at := w.dueAt(start)
			if c.want < 0 {
				if !at.IsZero() {
					t.Errorf("it is shown at %v, though nothing is new", at)
				}
				return
			}
			if !at.Equal(start.Add(c.want)) {
				t.Errorf("it is shown after %v, want %v", at.Sub(start), c.want)
			}
		})
	}
}

// Whatever happens, what is shown changes no more often than whoever composes
// the pool can take, and the newest is shown in the end.
func TestWhatIsShownIsPaced(t *testing.T) {
	w := &watched{}
	now, changes := start, 0
	var last Status
	for i := range 600 { // five minutes of members that come and go
		now = now.Add(apart)
		w.view = Status{Members: []Member{{Name: fmt.Sprint(i), Phase: Active}}}
		if shown := w.shown(now); !shown.equal(last) {
			changes++
			last = shown
		}
	}
	if limit := (pace.Burst + now.Sub(start).Seconds()*pace.PerSecond) / pace.Change; float64(changes) > limit+1 {
		t.Errorf("%d changes were shown, and the budget is good for %.0f", changes, limit)
	}
	if shown := w.shown(w.dueAt(now)); !slices.Equal(shown.Members, w.view.Members) {
		t.Errorf("shown is %v, want %v", shown.Members, w.view.Members)
	}
}
