package dispatch

import (
	"context"
	"testing"

	"github.com/gorizond/koldun/internal/bus"
)

// A reader that began anew tells of what it has read before: what is stored
// once must stay, a second copy goes.
func TestOnlyCopiesAreDiscarded(t *testing.T) {
	r := bus.Request{ID: "req_1", Session: "s", Tenant: "t"}
	discarded := 0
	l := &leader{
		jobs:  map[string]*job{r.ID: {req: r, seq: 7}},
		ended: newMemory(1),
		spawn: func(func(context.Context)) { discarded++ },
	}
	l.onEntry(bus.Entry{Request: r, Seq: 7})
	if discarded != 0 {
		t.Error("the only copy of an open request is deleted")
	}
	l.onEntry(bus.Entry{Request: r, Seq: 8})
	if discarded != 1 {
		t.Errorf("%d copies are deleted, want 1", discarded)
	}
}
