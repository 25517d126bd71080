package sidecar_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// A standby takes over in less than 5 s after a kill of the leader. Questions to the
// NATS server, one in a second, count the time, because a busy machine delays them as
// well. The test retries, since the machine may be busy for a moment.
func TestStandbyTakesOver(t *testing.T) {
	t.Parallel()
	const promised, attempts = 5, 5
	var took []int
	for range attempts {
		n := takeover(t)
		t.Logf("a standby has led after %d questions", n)
		if took = append(took, n); n < promised {
			return
		}
	}
	t.Errorf("a standby never led within %d questions: %v", promised, took)
}

// takeover kills a leader that holds a request, checks that the request is
// answered, and returns how many questions had answers before another one led.
func takeover(t *testing.T) int {
	t.Helper()
	w := anotherWorld(t)
	old := w.dispatcher("old")
	e, gate := gated(t, "a ", "b")
	w.sidecar("r1", e)
	running := w.send(chat("req_1", "slow"))
	running.until(queue.FrameStarted)
	leases := w.leases()
	w.dispatcher("new")
	old.kill()
	queued := w.send(chat("req_2", "second"))
	questions := w.until(leases, "new")
	pass(t, gate)
	pass(t, gate)
	running.want("a b")
	queued.want("second")
	w.empty()
	return questions
}

// until waits until a dispatcher leads. Meanwhile it asks the NATS server each second,
// and returns how often it got an answer.
func (w *world) until(leases <-chan jetstream.KeyValueEntry, leader string) (answers int) {
	w.t.Helper()
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for ctx := w.ctx(); ; {
		select {
		case entry := <-leases:
			var lease struct{ Leader string }
			if entry == nil || entry.Operation() != jetstream.KeyValuePut {
				continue
			}
			if err := json.Unmarshal(entry.Value(), &lease); err != nil {
				w.t.Fatal(err)
			}
			if lease.Leader == leader {
				return answers
			}
		case <-again.C:
			if err := w.bus.Conn().FlushWithContext(ctx); err != nil {
				w.t.Fatalf("%q does not lead: %v", leader, err)
			}
			answers++
		}
	}
}

// leases returns the current lease of the session and all later writes to it.
func (w *world) leases() <-chan jetstream.KeyValueEntry {
	w.t.Helper()
	bucket, err := w.bus.JetStream().KeyValue(w.ctx(), names.LeasesBucket)
	if err != nil {
		w.t.Fatal(err)
	}
	watch, err := bucket.Watch(w.ctx(), session)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = watch.Stop() })
	return watch.Updates()
}
