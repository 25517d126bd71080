package sidecar_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/dispatch"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/sidecar"
	"github.com/gorizond/koldun/test/waittest"
)

func TestServes(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e := enginetest.Start(t, nil)
	w.sidecar("r1", e)

	c := w.send(chat("req_1", "one two three"))
	c.want("one two three")
	last := c.seen[len(c.seen)-1]
	if last.FinishReason != "stop" || last.Usage == nil || last.Usage.CompletionTokens != 3 || last.Usage.PromptTokens == 0 {
		t.Errorf("end = %+v", last)
	}
	w.send(chat("req_2", "one two three", `,"max_tokens":2`)).want("one two ")
	c = w.send(chat("req_3", "one two three four", `,"stop":["o th","never"]`))
	c.want("one tw")
	if f := c.seen[len(c.seen)-2]; string(f.Raw) != `{"stop_sequence":"o th"}` {
		t.Errorf("the frame before the end is %+v, want the stop sequence", f)
	}
	c = w.send(chat("req_4", "x", `,"messages":[]`))
	c.wantError(queue.Failed, queue.CodeInvalidRequest)
	w.empty()
	w.runner("r1", idle)
	if why := e.Aborted(); why != "" {
		t.Errorf("the engine aborted: %s", why)
	}
}

func TestManyRequestsOverSeveralRunners(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	for i := range 3 {
		w.sidecar(fmt.Sprintf("r%d", i), enginetest.Start(t, nil))
	}
	var clients []*client
	for i := range 100 {
		r := chat(fmt.Sprintf("req_%d", i), fmt.Sprintf("answer number %d", i))
		r.Tenant = fmt.Sprintf("t%d", i%5)
		r.Affinity = fmt.Sprintf("c%d", i%7)
		clients = append(clients, w.send(r))
	}
	for i, c := range clients {
		c.want(fmt.Sprintf("answer number %d", i))
	}
	w.empty()
}

func TestWaitsForARunner(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	c := w.send(chat("req_1", "hello"))
	if f := c.until(queue.FrameQueued); f.Position != 0 {
		t.Errorf("position = %d, want 0", f.Position)
	}
	w.sidecar("r1", enginetest.Start(t, nil))
	c.want("hello")
}

func TestDuplicatesRunOnce(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e := enginetest.Start(t, nil)
	w.sidecar("r1", e)
	r := chat("req_1", "once")
	c := w.send(r)
	if _, err := queue.New(w.bus).Publish(w.ctx(), r); err != nil {
		t.Fatal(err)
	}
	c.want("once")
	w.empty()
	if n := asked(e, "once"); n != 1 {
		t.Errorf("the engine was asked %d times", n)
	}
}

func TestCancelQueued(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	c := w.send(chat("req_1", "hello"))
	c.until(queue.FrameQueued)
	if err := queue.New(w.bus).Cancel(w.ctx(), c.req.Ref(), "test"); err != nil {
		t.Fatal(err)
	}
	c.wantError(queue.Cancelled, queue.CodeCancelled)
	w.empty()
}

func TestCancelRunning(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		return enginetest.Reply{Pieces: []string{"a "}, Repeat: r.Last() == "forever", Every: time.Millisecond}
	})
	w.sidecar("r1", e)
	c := w.send(chat("req_1", "forever"))
	c.until(queue.FrameDelta)
	stranger := c.req.Ref()
	stranger.Tenant = "stranger"
	if err := queue.New(w.bus).Cancel(w.ctx(), stranger, "test"); !fault.Is(err, fault.Denied) {
		t.Errorf("another tenant cancels: %v, want Denied", err)
	}
	for range 30 { // the generation continues
		c.until(queue.FrameDelta)
	}
	if err := queue.New(w.bus).Cancel(w.ctx(), c.req.Ref(), "test"); err != nil {
		t.Fatal(err)
	}
	c.wantError(queue.Cancelled, queue.CodeCancelled)
	w.eventually("the engine to stop", func() bool { return !e.Active() })
	w.send(chat("req_2", "once")).want("a ")
	w.empty()
}

func TestDeadline(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	r := chat("req_1", "hello")
	r.Deadline = time.Now().Add(300 * time.Millisecond)
	w.send(r).wantError(queue.Expired, queue.CodeExpired)
	late := chat("req_2", "hello")
	late.Deadline = time.Now().Add(-time.Second)
	w.send(late).wantError(queue.Expired, queue.CodeExpired)
	w.empty()
}

func TestTimeout(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		return enginetest.Reply{Pieces: []string{"a "}, Repeat: r.Last() == "forever", Every: time.Millisecond}
	})
	w.sidecar("r1", e)
	r := chat("req_1", "forever")
	r.Timeout = 200 * time.Millisecond
	w.send(r).wantError(queue.Failed, queue.CodeTimeout)
	w.eventually("the engine to stop", func() bool { return !e.Active() })
}

// TestTimeLimit checks that a request ends when its time limit has passed: one that waits
// never reaches an engine, and one that runs stops there.
func TestTimeLimit(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		return enginetest.Reply{Pieces: []string{"a "}, Repeat: r.Last() == "forever", Every: time.Millisecond}
	})
	w.sidecar("r1", e)
	limited := func(id, text string, limit time.Duration) queue.Request {
		r := chat(id, text)
		r.EndBy = r.Created.Add(limit)
		return r
	}
	tries := 0
	var running *client
	w.eventually("a request to run long before its time limit", func() bool {
		tries++ // a busy machine needs more time to start it
		running = w.send(limited(fmt.Sprintf("req_1_%d", tries), "forever", time.Duration(tries)*2*time.Second))
		f, ok := running.next()
		for ok && f.Kind != queue.FrameStarted {
			f, ok = running.next()
		}
		return ok && time.Until(running.req.EndBy) > time.Second // beyond the limit of the next
	})
	waiting := w.send(limited("req_2", "once", 300*time.Millisecond))
	waiting.wantError(queue.Expired, queue.CodeDeadline)
	running.wantError(queue.Failed, queue.CodeDeadline)
	if o := running.outcome(); o.Usage.CompletionTokens == 0 || o.Attempts != 1 {
		t.Errorf("the request that ran ended without text or was tried again: %+v", o)
	}
	w.send(limited("req_3", "once", -time.Second)).wantError(queue.Expired, queue.CodeDeadline)
	w.eventually("the engine to stop", func() bool { return !e.Active() })
	w.send(limited("req_4", "once", time.Minute)).want("a ")
	if n := asked(e, "once"); n != 1 {
		t.Errorf("the engine got %d of the requests that waited, want the one in time", n)
	}
	w.empty()
}

func TestEngineRefuses(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	w.sidecar("r1", enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		if r.Last() == "long" {
			return enginetest.Reply{Status: 400, Code: openai.CodeContextLength}
		}
		return enginetest.Echo(r)
	}))
	c := w.send(chat("req_1", "long"))
	c.wantError(queue.Failed, queue.CodeContextLength)
	if o := c.outcome(); o.Attempts != 1 {
		t.Errorf("attempts = %d, want 1: another runner would refuse it too", o.Attempts)
	}
	w.send(chat("req_2", "short")).want("short")
}

func TestEngineBreaksBeforeTheFirstToken(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	broken := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		if r.Last() == "hello" {
			return enginetest.Reply{BreakAfter: -1, Pieces: []string{"x"}}
		}
		return enginetest.Echo(r)
	})
	whole, gate := gated(t, "whole")
	w.sidecar("r1", whole)
	held := w.send(chat("req_0", "slow"))
	held.until(queue.FrameStarted)
	w.sidecar("r2", broken)
	w.send(chat("req_1", "warm")).want("warm")
	pass(t, gate)
	held.want("whole")
	w.runner("r1", idle)
	c := w.send(chat("req_2", "hello")) // both are known, and r2 has been idle for longer
	c.want("hello")
	if asked(broken, "hello") != 1 || asked(whole, "hello") != 1 {
		t.Error("it was not asked once here and once there")
	}
	if o := c.outcome(); o.Attempts != 2 {
		t.Errorf("attempts = %d, want 2", o.Attempts)
	}
}

func TestPoisonEnds(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		if r.Last() == "poison" {
			return enginetest.Reply{BreakAfter: -1, Pieces: []string{"x"}}
		}
		return enginetest.Echo(r)
	})
	w.sidecar("r1", e)
	c := w.send(chat("req_1", "poison"))
	c.wantError(queue.Failed, queue.CodeEngineFailed)
	if n := asked(e, "poison"); n != 3 {
		t.Errorf("attempts = %d, want 3", n)
	}
	w.send(chat("req_2", "wholesome")).want("wholesome")
}

// Attempts are counted across leaders: attempts that fail without a leader and are
// reported to the next one, under a leader that is killed later, or with their runner.
func TestPoisonEndsUnderManyLeaders(t *testing.T) {
	w := newWorld(t)
	engine := func(fail chan bool) *enginetest.Engine {
		e := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
			if r.Last() != "poison" {
				return enginetest.Echo(r)
			}
			<-fail
			return enginetest.Reply{BreakAfter: -1, Pieces: []string{"x"}}
		})
		t.Cleanup(func() { close(fail) })
		return e
	}
	fail, failOther := make(chan bool), make(chan bool)
	first, other := engine(fail), engine(failOther)
	attempt := func(n int) {
		t.Helper()
		w.eventually(fmt.Sprintf("attempt %d", n), func() bool { return asked(first, "poison")+asked(other, "poison") == n })
	}
	limited := func(identity string) *process {
		return w.start(identity, func(ctx context.Context, b *bus.Bus) error {
			return dispatch.Run(ctx, dispatch.Config{Bus: b, Identity: identity, MaxAttempts: 4, AffinityWait: time.Millisecond, Logger: w.logger(identity)})
		})
	}
	d := limited("d1")
	// An attempt is lost with its runner, also if a busy machine stops that for the TTL.
	r1 := w.configured("r1", first, func(c *sidecar.Config) { c.TTL = 10 * time.Second })
	c := w.send(chat("req_1", "poison"))

	attempt(1) // fails without a leader
	d.kill()
	waittest.Send(t, "an attempt to fail", fail, true)
	w.runner("r1", func(r queue.Runner) bool { return len(r.Ends) == 1 })
	d = limited("d2")

	attempt(2) // fails under the leader that gives it out again
	waittest.Send(t, "an attempt to fail", fail, true)

	attempt(3) // dies with its leader and its runner
	w.runner("r1", func(r queue.Runner) bool { return len(r.Held) == 1 && r.Held[0].Attempt == 2 })
	d.kill()
	r1.kill()
	w.configured("r2", other, func(c *sidecar.Config) { c.TTL = 10 * time.Second })
	limited("d3")

	attempt(4)
	waittest.Send(t, "an attempt to fail", failOther, true)
	c.wantError(queue.Failed, queue.CodeEngineFailed)
	if o := c.outcome(); o.Attempts != 4 || len(o.Reasons) != 4 || !o.Dead {
		t.Errorf("outcome = %+v, want 4 attempts and as many reasons", o)
	}
	if n := asked(first, "poison") + asked(other, "poison"); n != 4 {
		t.Errorf("attempts = %d, want 4", n)
	}
	w.send(chat("req_2", "wholesome")).want("wholesome")
}

func TestEngineBreaksAfterTheFirstToken(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		reply := enginetest.Echo(r)
		if r.Last() == "a b c d" {
			reply.BreakAfter = 2
		}
		return reply
	})
	w.sidecar("r1", e)
	c := w.send(chat("req_1", "a b c d"))
	c.wantError(queue.Failed, queue.CodeInterrupted)
	if text, _ := c.finish(); text != "a b " {
		t.Errorf("text = %q, want what came before", text)
	}
	if n := asked(e, "a b c d"); n != 1 {
		t.Errorf("the engine was asked %d times, want once", n)
	}
	w.send(chat("req_2", "fine again")).want("fine again")
}

func TestEngineRestarts(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e := enginetest.Start(t, nil)
	e.Stop()
	w.sidecar("r1", e)
	c := w.send(chat("req_1", "hello"))
	c.until(queue.FrameQueued)
	w.runner("r1", func(r queue.Runner) bool { return r.State == queue.RunnerStarting })
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	c.want("hello")
}

// A runner with a drain order finishes its attempts and accepts no others until the
// order is withdrawn.
func TestARestingRunnerTakesNoMore(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d")
	gate := make(chan struct{})
	first := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		if r.Last() == "one" {
			return enginetest.Reply{Pieces: []string{"a", "b"}, Gate: gate}
		}
		return enginetest.Echo(r)
	})
	w.sidecar("first", first)
	w.runner("first", idle)
	held := w.send(chat("r1", "one"))
	pass(t, gate)
	held.until(queue.FrameDelta)

	order := func(drain bool) queue.Runner {
		t.Helper()
		r, err := bus.Call[queue.Runner](w.ctx(), w.bus, names.DrainSubject(session, "first"), queue.DrainOrder{Drain: drain})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := order(true); r.State != queue.RunnerDraining || len(r.Held) != 1 {
		t.Errorf("with a drain order: %+v, want it to drain and to hold its request", r)
	}
	w.runner("first", func(r queue.Runner) bool { return r.State == queue.RunnerDraining })
	waiting := w.send(chat("r2", "two"))
	close(gate)
	held.want("ab")
	w.runner("first", func(r queue.Runner) bool {
		return r.State == queue.RunnerDraining && len(r.Held) == 0 && len(r.Ends) == 0
	})
	if n := asked(first, "two"); n != 0 {
		t.Errorf("it was asked %d times while it rested", n)
	}
	if r := order(false); r.State != queue.RunnerIdle {
		t.Errorf("without a drain order: %+v", r)
	}
	waiting.want("two")
}
