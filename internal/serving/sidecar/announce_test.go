package sidecar_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// The number of requests does not increase the number of writes of a runner's record,
// which finally contains all lasting changes.
func TestRequestsDoNotWriteRecords(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	w.sidecar("r1", enginetest.Start(t, nil))
	w.send(chat("req_first", "x")).want("x")
	writes := func() uint64 {
		s, err := w.bus.JetStream().Stream(w.ctx(), "KV_"+names.RunnersBucket)
		if err != nil {
			t.Fatal(err)
		}
		return s.CachedInfo().State.LastSeq
	}
	began, before := time.Now(), writes()
	for i := range 200 {
		w.send(chat(fmt.Sprintf("req_%d", i), "x")).want("x")
	}
	got := writes() - before
	// Twice a second, and a heartbeat each second of the tests' TTL of three.
	if most := uint64(3*time.Since(began)/time.Second) + 4; got > most {
		t.Errorf("200 requests in %v wrote the record %d times, want at most %d", time.Since(began), got, most)
	}
	w.runner("r1", func(r queue.Runner) bool { return idle(r) && r.Version > 3*200 })
}
