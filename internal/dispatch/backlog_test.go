package dispatch

import (
	"slices"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/queue"
)

// A reader that began anew tells of what it has read before: what is stored
// once must stay, a second copy goes.
func TestOnlyCopiesAreDiscarded(t *testing.T) {
	r := queue.Request{ID: "req_1", Session: "s", Tenant: "t"}
	l := &leader{jobs: map[string]*job{r.ID: {req: r, seq: 7}}, ended: newMemory(1)}
	l.litter.tell(7, true)
	l.onEntry(queue.Entry{Request: r, Seq: 7, Lasting: true})
	l.onEntry(queue.Entry{Request: r, Seq: 8, Lasting: true})
	if below, lone := l.litter.plan(time.Now(), true); below != 0 || !slices.Equal(lone, []uint64{8}) {
		t.Errorf("all below %d are deleted and %v, want the second copy alone", below, lone)
	}
}
