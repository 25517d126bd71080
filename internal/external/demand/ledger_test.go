package demand

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/external/pace"
)

var start = time.Unix(1_000_000, 0)

func sessions(keys ...string) []Session {
	out := []Session{}
	for _, k := range keys {
		out = append(out, Session{Key: k, Model: "m", Isolated: k[0] == 'i'})
	}
	return out
}

func TestEnter(t *testing.T) {
	later := start.Add(2 * settle)
	cases := map[string]struct {
		known, live []Session
		most        int
		settled     time.Time
		at          time.Time
		want        []Session
		again       time.Time
	}{
		"Nothing":       {at: later, want: sessions()},
		"New":           {live: sessions("b", "a"), most: 8, at: later, want: sessions("a", "b")},
		"AllAtOnce":     {live: sessions("a", "b", "c", "d", "e"), at: later, want: sessions("a", "b", "c", "d", "e")},
		"KnownAtOnce":   {known: sessions("a", "b", "c", "d", "e", "f"), live: sessions("a", "b", "c", "d", "e", "f", "g"), at: later, want: sessions("a", "b", "c", "d", "e", "f", "g")},
		"Gone":          {known: sessions("a", "b"), live: sessions("b"), at: later, want: sessions("b")},
		"GoneUnsettled": {known: sessions("a", "b"), live: sessions("b"), settled: later.Add(time.Second), at: later, want: sessions("a", "b"), again: later.Add(time.Second)},
		"JustStarted":   {known: sessions("a"), at: start, want: sessions("a"), again: start.Add(settle)},
		"TooMany":       {live: sessions("i1", "i2", "i3"), most: 2, at: later, want: sessions("i1", "i2")},
		"FewerAllowed":  {known: sessions("i1", "i2", "i3"), live: sessions("i1", "i2", "i3"), most: 1, at: later, want: sessions("i1")},
		"NoneApart":     {live: sessions("i1", "s"), most: 0, at: later, want: sessions("s")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, again := newLedger(c.known, start).enter(c.live, c.most, c.settled, c.at)
			if d := cmp.Diff(c.want, append(sessions(), got...)); d != "" {
				t.Error(d)
			}
			if !again.Equal(c.again) {
				t.Errorf("again at %v, want %v", again, c.again)
			}
		})
	}
}

func TestChangesArePaced(t *testing.T) {
	l := newLedger(nil, start.Add(-2*settle))
	var listed []Session
	var again time.Time
	changes := -1
	for ; again.IsZero(); changes++ {
		listed, again = l.enter(sessions(fmt.Sprint("s", changes+1)), 8, time.Time{}, start)
	}
	if changes != pace.Burst/pace.Change {
		t.Errorf("%d changes at once, want %d", changes, pace.Burst/pace.Change)
	}
	if want := sessions(fmt.Sprint("s", changes-1)); !slices.Equal(listed, want) {
		t.Errorf("listed are %v, want %v as before", listed, want)
	}
	if want := start.Add(5 * time.Second); !again.Equal(want) {
		t.Errorf("again at %v, want %v", again, want)
	}
	if listed, _ = l.enter(sessions("last"), 8, time.Time{}, again); !slices.Equal(listed, sessions("last")) {
		t.Errorf("listed are %v when there is room for a change", listed)
	}
}

// For every sequence of changes, a list never exceeds its limit, changes within
// the budget, is correct whenever enter requests no further call, and is correct
// in the end.
func TestEnterHoldsItsPromises(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		l := newLedger(nil, start.Add(-2*settle))
		now, most := start, r.IntN(6)
		var live, last []Session
		changes := 0
		for range 200 {
			now = now.Add(time.Duration(r.IntN(5000)) * time.Millisecond)
			live = live[:0]
			for i := range 10 {
				if r.IntN(4) > 0 {
					live = append(live, sessions(fmt.Sprintf("%c%d", "is"[r.IntN(2)], i))...)
				}
			}
			got, again := l.enter(live, most, time.Time{}, now)
			for _, s := range got {
				if again.IsZero() && !slices.Contains(live, s) {
					t.Fatalf("seed %d: %v is listed and not live", seed, s)
				}
			}
			if apart := count(got); apart > most {
				t.Fatalf("seed %d: %d pools kept apart, at most %d", seed, apart, most)
			}
			if !again.IsZero() && !again.After(now) {
				t.Fatalf("seed %d: to be looked at again in the past", seed)
			}
			if !slices.Equal(got, last) {
				changes++
			}
			last = got
		}
		if limit := (pace.Burst + now.Sub(start).Seconds()*pace.PerSecond) / pace.Change; float64(changes) > limit+1 {
			t.Errorf("seed %d: %d changes, and the budget is good for %.0f", seed, changes, limit)
		}
		// In the end the list has everything it can hold.
		want := min(most, count(live)) + len(live) - count(live)
		for range 20 {
			var again time.Time
			if last, again = l.enter(live, most, time.Time{}, now); again.IsZero() {
				break
			}
			now = again.Add(time.Millisecond)
		}
		if len(last) != want {
			t.Errorf("seed %d: %d pools are listed in the end, want %d of %v", seed, len(last), want, live)
		}
	}
}

func count(live []Session) (apart int) {
	for _, s := range live {
		if s.Isolated {
			apart++
		}
	}
	return apart
}
