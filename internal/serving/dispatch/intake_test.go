package dispatch

import (
	"slices"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// A reader that starts again delivers messages for a second time: the first copy
// stays, and the second copy is deleted.
func TestOnlyCopiesAreDiscarded(t *testing.T) {
	r := queue.Request{ID: "req_1", Session: "s", Tenant: "t"}
	l := leaderOf(Config{})
	l.ledger.jobs[r.ID] = &job{req: r, seq: 7}
	l.stream.purger.add(7, true)
	l.intake.onEntry(queue.Entry{Request: r, Seq: 7, Lasting: true})
	l.intake.onEntry(queue.Entry{Request: r, Seq: 8, Lasting: true})
	if below, single := l.stream.purger.plan(time.Now(), true); below != 0 || !slices.Equal(single, []uint64{8}) {
		t.Errorf("all below %d are deleted and %v, want the second copy alone", below, single)
	}
}

// TestDepthIsAnsweredByWhoKnows: requests that have ended do not count, and only a
// leader that has read all others answers.
func TestDepthIsAnsweredByWhoKnows(t *testing.T) {
	ask := func(replayed bool, until time.Time) (answers []int) {
		l := unfencedLeader(&job{})
		l.stream.replayed = replayed
		l.setEnd(until)
		l.intake.onDepthQuery(func(d queue.Depth) { answers = append(answers, d.Requests) })
		return answers
	}
	later := time.Now().Add(time.Minute)
	if got := ask(true, later); !slices.Equal(got, []int{1}) {
		t.Errorf("a leader answers %v", got)
	}
	if got := ask(false, later); got != nil {
		t.Errorf("before the backlog is read it answers %v", got)
	}
	if got := ask(true, time.Now()); got != nil {
		t.Errorf("without the lease it answers %v", got)
	}
}
