package sidecar_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue"
)

// A standby takes over in less than 5 s after a kill of the leader. The time is
// the NATS server's, from the last write of the old leader to the first of the
// new one. The test retries, since the machine may be busy for a moment.
func TestStandbyTakesOver(t *testing.T) {
	t.Parallel()
	const promised, attempts = 5 * time.Second, 5
	var took []time.Duration
	for range attempts {
		d := takeover(t)
		t.Logf("a standby has led after %v", d.Round(time.Millisecond))
		if took = append(took, d); d < promised {
			return
		}
	}
	t.Errorf("a standby never led within %v: %v", promised, took)
}

// takeover kills a leader that holds a request, checks that the request is
// answered, and returns the time without a leader.
func takeover(t *testing.T) time.Duration {
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
	pass(t, gate)
	pass(t, gate)
	running.want("a b")
	queued.want("second")
	w.empty()
	var last time.Time // last write of the old leader
	for entry := range leases {
		var lease struct{ Leader string }
		if entry == nil || entry.Operation() != jetstream.KeyValuePut {
			continue
		}
		if err := json.Unmarshal(entry.Value(), &lease); err != nil {
			t.Fatal(err)
		}
		if lease.Leader == "new" {
			return entry.Created().Sub(last)
		}
		last = entry.Created()
	}
	t.Fatal("the lease is not watched any more")
	return 0
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
