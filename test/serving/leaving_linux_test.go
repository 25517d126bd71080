package serving_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/waittest"
)

// A client that goes away stops the computation within a second.
func TestLeavingStopsTheEngine(t *testing.T) {
	s := newStack(t, plan{gateways: 1, dispatchers: 1, runners: 1})
	h := &history{}
	var took time.Duration
	for i := range 10 { // a machine may be busy at one moment, and not at each of many
		w := wish{ID: fmt.Sprintf("endless%d", i), N: 1 << 17, Every: 2 * time.Millisecond}
		e := ask(waittest.Context(t), http.DefaultClient, s.urls[0], w, true, 2)
		if e.verdict != left {
			t.Fatalf("the client did not leave: %+v", e)
		}
		var stopped generation
		waittest.Until(t, "the engine to stop", func() bool {
			all := s.generations()
			if len(all) <= i {
				return false
			}
			stopped = all[i]
			return true
		})
		h.entries = append(h.entries, e)
		if took = stopped.Ended.Sub(e.ended); took < time.Second {
			t.Logf("stopped after %v and %d pieces", took, stopped.Pieces)
			break
		}
	}
	if took >= time.Second {
		t.Errorf("it went on for %v", took)
	}
	s.settle(t, h)
	h.judge(t, endsOnce, stopsComputing)
}
