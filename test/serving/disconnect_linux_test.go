package serving_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// When a client disconnects, the engine stops within a second. Its pieces count the time,
// because a busy machine delays them as well.
func TestDisconnectStopsTheEngine(t *testing.T) {
	t.Parallel()
	const every = 2 * time.Millisecond
	s := newStack(t, plan{gateways: 1, dispatchers: 1, runners: 1})
	h := &history.History{}
	var stopped history.Generation
	for i := range 10 { // repeat, because the machine may be busy
		w := history.Prompt{ID: fmt.Sprintf("endless%d", i), N: 1 << 17, Every: every}
		e := history.SendChat(waittest.Context(t), http.DefaultClient, s.urls[0], w, true, 2)
		if e.Verdict != history.Disconnected {
			t.Fatalf("the client did not disconnect: %+v", e)
		}
		waittest.Until(t, "the engine to stop", func() bool {
			all := s.generations()
			if len(all) <= i {
				return false
			}
			stopped = all[i]
			return true
		})
		h.Entries = append(h.Entries, e)
		t.Logf("stopped after %v and %d pieces", stopped.Ended.Sub(e.Ended), stopped.Pieces)
		if stopped.Pieces < int(time.Second/every) {
			break
		}
	}
	if stopped.Pieces >= int(time.Second/every) {
		t.Errorf("the engine continued for %d pieces", stopped.Pieces)
	}
	s.collect(t, h)
	h.Verify(t, history.EndsOnce, history.StopsComputing)
}
