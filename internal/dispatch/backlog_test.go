package dispatch

import (
	"slices"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/queue"
)

// A reader that starts again delivers messages for a second time: the first copy
// stays, and the second copy is deleted.
func TestOnlyCopiesAreDiscarded(t *testing.T) {
	r := queue.Request{ID: "req_1", Session: "s", Tenant: "t"}
	l := &leader{jobs: map[string]*job{r.ID: {req: r, seq: 7}}, ended: newRecentIDs(1)}
	l.purger.add(7, true)
	l.onEntry(queue.Entry{Request: r, Seq: 7, Lasting: true})
	l.onEntry(queue.Entry{Request: r, Seq: 8, Lasting: true})
	if below, single := l.purger.plan(time.Now(), true); below != 0 || !slices.Equal(single, []uint64{8}) {
		t.Errorf("all below %d are deleted and %v, want the second copy alone", below, single)
	}
}
