package dispatch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
	"github.com/gorizond/koldun/internal/serving/queue"
)

func TestJobIsCurrentAttempt(t *testing.T) {
	for p, held := range map[phase]bool{
		fencing: false, queued: false, assigning: true, uncertain: true, running: true, retrying: false, ending: false,
	} {
		j := &job{phase: p, attempt: attempt{epoch: 2, number: 3}}
		if j.held() != held || j.is(2, 3) != held {
			t.Errorf("phase %d: held %t, is %t; want %t", p, j.held(), j.is(2, 3), held)
		}
		if j.is(1, 3) || j.is(2, 2) {
			t.Errorf("phase %d: another attempt is the current one", p)
		}
	}
}

func TestClassOfPriority(t *testing.T) {
	for p, want := range map[queue.Priority]policy.Class{
		queue.PriorityHigh: policy.High, queue.PriorityNormal: policy.Normal, queue.PriorityLow: policy.Low,
	} {
		if got := class(p); got != want {
			t.Errorf("class of priority %v = %v, want %v", p, got, want)
		}
	}
}

// A later leader adds the recorded attempts of earlier ones to those it has seen.
func TestAddEarlierAttempts(t *testing.T) {
	j := &job{tries: 1, known: queue.Attempts{
		Failed: 1, Reasons: []string{"second"}, Runners: []string{"r2"}, UpTo: queue.AttemptID{Epoch: 2, Attempt: 1},
	}}
	j.addEarlier(queue.Attempts{
		Failed: 2, Reasons: []string{"first"}, Runners: []string{"r1"}, Sequence: 9, UpTo: queue.AttemptID{Epoch: 1, Attempt: 4},
	})
	want := queue.Attempts{
		Failed: 3, Reasons: []string{"first", "second"}, Runners: []string{"r1", "r2"}, Sequence: 9, UpTo: queue.AttemptID{Epoch: 2, Attempt: 1},
	}
	if d := cmp.Diff(want, j.known); d != "" || j.tries != 3 {
		t.Errorf("%d tries, %s", j.tries, d)
	}
}

func TestAcknowledgeOnce(t *testing.T) {
	acks := 0
	j := &job{acks: []func(queue.Ack){func(a queue.Ack) {
		if a.OK {
			acks++
		}
	}}}
	j.acknowledge()
	j.acknowledge()
	if acks != 1 {
		t.Errorf("acknowledged %d times, want once", acks)
	}
}

func TestObservedLeaseLeft(t *testing.T) {
	at := time.Unix(1000, 0)
	s := observedLease{at: at}
	for after, want := range map[time.Duration]time.Duration{0: 3 * time.Second, time.Second: 2 * time.Second, 3 * time.Second: 0, 4 * time.Second: -time.Second} {
		if got := s.left(3*time.Second, at.Add(after)); got != want {
			t.Errorf("%v after the renewal %v are left, want %v", after, got, want)
		}
	}
}
