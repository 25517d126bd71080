package sidecar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

// A gated engine lets one piece of text pass for each value sent to the gate.
// Requests other than "slow" are echoed.
func gated(t *testing.T, pieces ...string) (*enginetest.Engine, chan struct{}) {
	t.Helper()
	gate := make(chan struct{})
	return enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		if r.Last() != "slow" {
			return enginetest.Echo(r)
		}
		return enginetest.Reply{Pieces: pieces, Gate: gate}
	}), gate
}

// pass lets one piece through a gate.
func pass(t *testing.T, gate chan<- struct{}) {
	t.Helper()
	waittest.Send(t, "a piece to pass", gate, struct{}{})
}

func TestLeaderIsKilled(t *testing.T) {
	w := newWorld(t)
	d1 := w.dispatcher("d1")
	e, gate := gated(t, "a ", "b ", "c")
	w.sidecar("r1", e)
	running := w.send(chat("req_1", "slow"))
	running.until(queue.FrameStarted)
	pass(t, gate)
	running.until(queue.FrameDelta)
	queued := w.send(chat("req_2", "second"))
	queued.until(queue.FrameQueued)

	w.dispatcher("d2")
	d1.kill()
	late := w.send(chat("req_3", "third")) // there is no leader now
	pass(t, gate)
	pass(t, gate)
	running.want("a b c")
	queued.want("second")
	late.want("third")
	w.empty()
	for _, text := range []string{"slow", "second", "third"} {
		if n := asked(e, text); n != 1 {
			t.Errorf("%q was asked %d times", text, n)
		}
	}
	w.runner("r1", idle)
}

func TestLeaderStops(t *testing.T) {
	w := newWorld(t)
	d1 := w.dispatcher("d1")
	e := enginetest.Start(t, nil)
	w.sidecar("r1", e)
	w.send(chat("req_1", "first")).want("first")
	w.dispatcher("d2")
	d1.stop(t)
	stopped := time.Now()
	w.send(chat("req_2", "second")).want("second")
	t.Logf("served again %v after the leader had stopped", time.Since(stopped).Round(time.Millisecond))
	w.empty()
}

// The end of a request without a leader is reported to the next leader.
func TestEndWithoutALeader(t *testing.T) {
	w := newWorld(t)
	d1 := w.dispatcher("d1")
	e, gate := gated(t, "a")
	w.sidecar("r1", e)
	c := w.send(chat("req_1", "slow"))
	c.until(queue.FrameStarted)
	d1.kill()
	pass(t, gate)
	if text, last := c.finish(); text != "a" || last.Kind != queue.FrameEnd {
		t.Errorf("without a leader: %q, %+v", text, last)
	}
	w.runner("r1", func(r queue.Runner) bool { return len(r.Ends) == 1 })
	w.dispatcher("d2")
	if o := c.outcome(); o.State != queue.Completed {
		t.Errorf("outcome = %+v", o)
	}
	w.empty()
	w.runner("r1", idle)
	if n := asked(e, "slow"); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

func TestSidecarIsKilledBeforeTheFirstToken(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e, _ := gated(t, "never")
	s := w.sidecar("r1", e)
	c := w.send(chat("req_1", "slow"))
	c.until(queue.FrameStarted)
	s.kill()
	w.sidecar("r2", enginetest.Start(t, nil))
	c.want("slow")
	if o := c.outcome(); o.Attempts != 2 {
		t.Errorf("attempts = %d, want 2", o.Attempts)
	}
	w.empty()
}

func TestSidecarIsKilledAfterTheFirstToken(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e, gate := gated(t, "a", "b")
	s := w.sidecar("r1", e)
	c := w.send(chat("req_1", "slow"))
	c.until(queue.FrameStarted)
	pass(t, gate)
	c.until(queue.FrameDelta)
	s.kill()
	other := enginetest.Start(t, nil)
	w.sidecar("r2", other)
	c.wantError(queue.Failed, queue.CodeInterrupted)
	if n := asked(other, "slow"); n != 0 {
		t.Error("a generation that had sent text was started again")
	}
	w.send(chat("req_2", "next")).want("next")
	w.empty()
}

// A sidecar that restarts under its name has lost its attempts.
func TestSidecarRestarts(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e, _ := gated(t, "never")
	s := w.sidecar("r1", e)
	c := w.send(chat("req_1", "slow"))
	c.until(queue.FrameStarted)
	s.kill()
	w.sidecar("r1", enginetest.Start(t, nil))
	c.want("slow")
	w.empty()
}

func TestDrainHandsBack(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e, _ := gated(t, "never")
	s := w.sidecar("r1", e)
	c := w.send(chat("req_1", "slow"))
	c.until(queue.FrameStarted)
	w.sidecar("r2", enginetest.Start(t, nil))
	s.stop(t)
	c.want("slow")
	if o := c.outcome(); o.Attempts != 1 {
		t.Errorf("attempts = %d, want 1: handing back is no failure", o.Attempts)
	}
	w.eventually("the record of r1 to go", func() bool {
		_, _, err := bus.Get[queue.Runner](w.ctx(), w.bus, names.RunnersBucket, names.RunnerKey(session, "r1"))
		return err != nil
	})
}

func TestDrainFinishes(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e, gate := gated(t, "a", "b")
	s := w.sidecar("r1", e)
	c := w.send(chat("req_1", "slow"))
	c.until(queue.FrameStarted)
	pass(t, gate)
	c.until(queue.FrameDelta)
	s.cancel()
	w.runner("r1", func(r queue.Runner) bool { return r.State == queue.RunnerDraining })
	other := w.send(chat("req_2", "other"))
	other.until(queue.FrameQueued)
	pass(t, gate)
	c.want("ab")
	s.wait(t)
	w.sidecar("r2", enginetest.Start(t, nil))
	other.want("other")
}

func TestNATSRestarts(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	w.dispatcher("d2")
	e, gate := gated(t, strings.Split("a,b,c,d,e,f", ",")...)
	w.sidecar("r1", e)
	running := w.send(chat("req_1", "slow"))
	running.until(queue.FrameStarted)
	pass(t, gate)
	running.until(queue.FrameDelta)
	queued := w.send(chat("req_2", "second"))
	queued.until(queue.FrameQueued)
	w.nats.Stop()
	for range 3 {
		pass(t, gate)
	}
	w.nats.Restart()
	for range 2 {
		pass(t, gate)
	}
	running.want("abcdef")
	queued.want("second")
	w.empty()
	if n := asked(e, "slow"); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
	w.runner("r1", idle)
}

// While NATS is down for longer than the TTL of leases and runner records, generations
// continue, and the next leader finds them.
func TestNATSIsAwayForLong(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	w.dispatcher("d2")
	var pieces []string
	for i := range 60 {
		pieces = append(pieces, fmt.Sprint(i, " "))
	}
	e := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		if r.Last() != "slow" {
			return enginetest.Echo(r)
		}
		return enginetest.Reply{Pieces: pieces, Every: 100 * time.Millisecond}
	})
	w.sidecar("r1", e)
	running := w.send(chat("req_1", "slow"))
	running.until(queue.FrameDelta)
	queued := w.send(chat("req_2", "second"))
	queued.until(queue.FrameQueued)
	w.nats.Stop()
	w.eventually("a long outage", func() bool { return e.Produced() >= 45 })
	w.nats.Restart()
	other := enginetest.Start(t, nil)
	w.sidecar("r2", other)
	running.want(strings.Join(pieces, ""))
	queued.want("second")
	w.empty()
	if n := asked(e, "slow") + asked(other, "slow"); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

// A server that has lost its data has lost its requests; new requests are served.
func TestNATSLosesItsData(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e := enginetest.Start(t, nil)
	w.sidecar("r1", e)
	for i := range 5 {
		w.send(chat(fmt.Sprintf("req_%d", i), "before")).want("before")
	}
	w.nats.Wipe()
	w.eventually("the queue", func() bool {
		_, err := w.bus.JetStream().Stream(waittest.Attempt(t), names.RequestStream)
		return err == nil
	})
	w.send(chat("req_9", "after")).want("after")
	w.empty()
}

// A client that missed frames receives them again, or an error if its runner is gone.
func TestFollowsLate(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e, gate := gated(t, "a", "b", "c")
	w.sidecar("r1", e)
	first := w.send(chat("req_1", "slow"))
	first.until(queue.FrameStarted)
	pass(t, gate)
	first.until(queue.FrameDelta)
	second := w.follow(first.req)
	pass(t, gate)
	second.until(queue.FrameDelta)
	pass(t, gate)
	first.want("abc")
	second.want("abc")
}

// A request does not run again if a leader stored its outcome but could not delete it.
func TestOutcomeStoredButNotDeleted(t *testing.T) {
	w := newWorld(t)
	e := enginetest.Start(t, nil)
	w.sidecar("r1", e)
	r := chat("req_1", "hello")
	c := w.send(r)
	o := queue.Outcome{Request: r.ID, Session: r.Session, Tenant: r.Tenant, State: queue.Completed, Created: r.Created, Ended: time.Now()}
	if err := queue.New(w.bus).PublishOutcome(w.ctx(), o, 0); err != nil {
		t.Fatal(err)
	}
	w.dispatcher("d1")
	w.empty()
	if n := asked(e, "hello"); n != 0 {
		t.Errorf("asked %d times, want never", n)
	}
	_ = c
}

// A runner accepts messages only of the newest leader.
func TestOldLeadersAreRefused(t *testing.T) {
	w := newWorld(t)
	w.sidecar("r1", enginetest.Start(t, nil))
	w.runner("r1", idle)
	assign := func(epoch, seq uint64) queue.AssignmentReply {
		reply, err := bus.Call[queue.AssignmentReply](w.ctx(), w.bus, names.AssignSubject(session, "r1"),
			queue.Assignment{Request: chat(fmt.Sprintf("req_%d_%d", epoch, seq), "x"), Attempt: 1, Epoch: epoch, Seq: seq})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	sync := func(epoch, seq uint64) uint64 {
		reply, err := bus.Call[queue.SyncReply](w.ctx(), w.bus, names.SyncSubject(session, "r1"), queue.Sync{Epoch: epoch, Seq: seq})
		if err != nil {
			t.Fatal(err)
		}
		return reply.Epoch
	}
	if r := assign(5, 1); r.Accepted || r.Reason != queue.RefusedUnsynced {
		t.Errorf("a leader without sync: %+v", r)
	}
	if got := sync(5, 2); got != 5 {
		t.Errorf("epoch = %d, want 5", got)
	}
	if got := sync(4, 9); got != 5 {
		t.Errorf("epoch after an old leader = %d, want 5", got)
	}
	if r := assign(4, 10); r.Accepted || r.Reason != queue.RefusedStale || r.Epoch != 5 {
		t.Errorf("an old leader: %+v", r)
	}
	if r := assign(5, 2); r.Accepted || r.Reason != queue.RefusedStale {
		t.Errorf("a late message: %+v", r)
	}
	if r := assign(5, 3); !r.Accepted {
		t.Errorf("the leader: %+v", r)
	}
}

// A leader recovers runners that have seen a newer epoch than any lease has, because
// the bucket of leases was lost.
func TestEpochsRecover(t *testing.T) {
	w := newWorld(t)
	w.sidecar("r1", enginetest.Start(t, nil))
	w.runner("r1", idle)
	if _, err := bus.Call[queue.SyncReply](w.ctx(), w.bus, names.SyncSubject(session, "r1"), queue.Sync{Epoch: 1 << 60, Seq: 1}); err != nil {
		t.Fatal(err)
	}
	w.dispatcher("d1")
	w.send(chat("req_1", "hello")).want("hello")
}

// A client that starts to read after the end receives all frames, even more than its
// buffer holds.
func TestSlowFollowerCatchesUp(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	kilobyte := strings.Repeat("x", 1023) + " "
	w.sidecar("r1", enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		return enginetest.Reply{Pieces: []string{kilobyte}, Repeat: true}
	}))
	c := w.send(chat("req_1", "long", `,"max_tokens":3000`))
	c.outcome()
	c.want(strings.Repeat(kilobyte, 3000))
}
