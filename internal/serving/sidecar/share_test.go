package sidecar

import (
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/fault"
)

// A reading of the load, with the runner's own requests, and what the runner offers
// after it.
type reading struct{ running, waiting, own, offered int }

func TestShare(t *testing.T) {
	for name, readings := range map[string][]reading{
		"Alone":           {{0, 0, 0, 8}, {8, 0, 8, 8}, {5, 3, 8, 8}, {5, 3, 8, 8}},
		"OthersHaveRoom":  {{20, 0, 4, 8}, {20, 0, 4, 8}},
		"EndedMeanwhile":  {{7, 1, 7, 8}, {7, 0, 7, 8}, {7, 1, 7, 8}},
		"Full":            {{32, 2, 8, 8}, {32, 2, 8, 6}, {32, 0, 6, 8}},
		"FullOfOthers":    {{32, 100, 0, 8}, {32, 100, 0, 1}, {32, 100, 1, 1}},
		"NeverMore":       {{32, 7, 8, 8}, {32, 7, 8, 1}, {32, 1, 7, 1}},
		"StepByStep":      {{32, 9, 8, 8}, {32, 9, 8, 1}, {32, 0, 1, 3}, {32, 0, 3, 5}, {32, 0, 5, 7}, {32, 0, 7, 8}},
		"OthersHaveGone":  {{32, 9, 8, 8}, {32, 9, 8, 1}, {1, 0, 1, 8}},
		"OthersComeTwice": {{32, 9, 41, 8}, {32, 9, 8, 8}, {32, 9, 8, 1}},
		"LessThanOurs":    {{1, 0, 8, 8}, {1, 0, 8, 8}}, // behind a load balancer, each reading is of one server
	} {
		t.Run(name, func(t *testing.T) {
			s := share{slots: 8, offered: 8}
			for i, r := range readings {
				s = s.next(engineapi.Load{Running: r.running, Waiting: r.waiting}, r.own)
				if s.offered != r.offered || s.taken() != 8-r.offered {
					t.Errorf("reading %d: the runner offers %d slots and %d are taken, want %d offered", i, s.offered, s.taken(), r.offered)
				}
			}
		})
	}
}

// A server that is too busy to say its load gets no more requests for that.
func TestShareAfterNoAnswer(t *testing.T) {
	full, whole := share{slots: 8, offered: 1, foreign: 32}, share{slots: 8, offered: 8}
	held := full
	held.silent = 1
	silent, none := fault.Errorf(fault.Transient, "no answer"), fault.Errorf(fault.Unsupported, "no metrics")
	for name, c := range map[string]struct {
		err   error
		ready bool
		want  share
		again time.Duration
	}{
		"Silent":         {silent, true, held, loadEvery},
		"SilentStarting": {silent, false, held, loadEvery},
		"NoMetrics":      {none, true, whole, loadAgain},
		"NoMetricsYet":   {none, false, held, loadEvery},
		"Answers":        {nil, true, whole, loadEvery},
	} {
		t.Run(name, func(t *testing.T) {
			if got, again := full.after(engineapi.Load{}, 0, c.err, c.ready); got != c.want || again != c.again {
				t.Errorf("got %+v, again in %v; want %+v in %v", got, again, c.want, c.again)
			}
		})
	}
}

// A server that does not say its load any more gets all requests again, step by
// step; an answer in between counts.
func TestShareAfterLongSilence(t *testing.T) {
	s := share{slots: 8, offered: 1, foreign: 32}
	read := func(n int, err error) int {
		for range n {
			s, _ = s.after(engineapi.Load{Running: 32, Waiting: 100}, 1, err, true)
		}
		return s.offered
	}
	silent := fault.Errorf(fault.Transient, "no answer")
	for i, c := range []struct {
		readings int
		err      error
		offered  int
	}{
		{maxSilent - 1, silent, 1}, {1, nil, 1}, {maxSilent - 1, silent, 1}, {1, silent, 3}, {2, silent, 7}, {5, silent, 8}, {1, nil, 8}, {1, nil, 1},
	} {
		if got := read(c.readings, c.err); got != c.offered {
			t.Errorf("step %d: the runner offers %d slots, want %d", i, got, c.offered)
		}
	}
}

// A runner with one slot always offers it.
func TestShareOfOneSlot(t *testing.T) {
	s := share{slots: 1, offered: 1}
	for range 3 {
		if s = s.next(engineapi.Load{Running: 1, Waiting: 5}, 0); s.offered != 1 {
			t.Errorf("the runner offers %d slots", s.offered)
		}
	}
}
