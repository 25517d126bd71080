package serving_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/waittest"

	"github.com/gorizond/koldun/test/history"
)

// When a client disconnects, the engine stops within a second.
func TestDisconnectStopsTheEngine(t *testing.T) {
	s := newStack(t, plan{gateways: 1, dispatchers: 1, runners: 1})
	h := &history.History{}
	var took time.Duration
	for i := range 10 { // repeat, because the machine may be busy
		w := history.Prompt{ID: fmt.Sprintf("endless%d", i), N: 1 << 17, Every: 2 * time.Millisecond}
		e := history.SendChat(waittest.Context(t), http.DefaultClient, s.urls[0], w, true, 2)
		if e.Verdict != history.Disconnected {
			t.Fatalf("the client did not disconnect: %+v", e)
		}
		var stopped history.Generation
		waittest.Until(t, "the engine to stop", func() bool {
			all := s.generations()
			if len(all) <= i {
				return false
			}
			stopped = all[i]
			return true
		})
		h.Entries = append(h.Entries, e)
		if took = stopped.Ended.Sub(e.Ended); took < time.Second {
			t.Logf("stopped after %v and %d pieces", took, stopped.Pieces)
			break
		}
	}
	if took >= time.Second {
		t.Errorf("the engine continued for %v", took)
	}
	s.collect(t, h)
	h.Verify(t, history.EndsOnce, history.StopsComputing)
}
