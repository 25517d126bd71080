package queue_test

import (
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// A replay has the time limits of the dead letter, from its own start on.
func TestReplayBeginsItsLimits(t *testing.T) {
	created := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	now := created.Add(24 * time.Hour)
	dead := queue.DeadLetter{Request: queue.Request{ID: "req_1", Created: created, Deadline: created.Add(time.Hour), EndBy: created.Add(time.Minute), Traceparent: "00-1-2-01"}}
	r := dead.Replay("req_2", now)
	if r.ID != "req_2" || r.ReplayOf != "req_1" || r.Created != now || r.Deadline != now.Add(time.Hour) || r.EndBy != now.Add(time.Minute) || r.Traceparent != "" {
		t.Errorf("got %+v", r)
	}
	dead.Request.Deadline, dead.Request.EndBy = time.Time{}, time.Time{}
	if r := dead.Replay("req_2", now); !r.Deadline.IsZero() || !r.EndBy.IsZero() {
		t.Errorf("got limits of a request without: %+v", r)
	}
}
