package sidecar_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/sidecar"
)

// slotted starts an engine and its sidecar with so many slots.
func (w *world) slotted(runner string, slots int, reply func(enginetest.Request) enginetest.Reply, change func(*sidecar.Config)) (*enginetest.Engine, *process) {
	w.t.Helper()
	e := enginetest.New(porttest.Address(w.t), reply)
	e.Slots = slots + 2 // so that too many at once would be seen
	if err := e.Run(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(e.Stop)
	p := w.configured(runner, e, func(cfg *sidecar.Config) {
		cfg.Slots = slots
		client, err := engineapi.NewSlots(e.URL, slots)
		if err != nil {
			w.t.Error(err)
			return
		}
		cfg.Engine = client
		if change != nil {
			change(cfg)
		}
	})
	return e, p
}

// holds returns a condition for a runner that works on so many requests.
func holds(n int) func(queue.Runner) bool {
	return func(r queue.Runner) bool { return r.State == queue.RunnerBusy && len(r.Held) == n && r.Slots == 4 }
}

// A runner with four slots computes four requests at the same time and no more.
// Each is answered whole, and one that is cancelled makes room for another.
func TestSlots(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	gate := make(chan struct{})
	e, _ := w.slotted("r1", 4, func(r enginetest.Request) enginetest.Reply {
		reply := enginetest.Echo(r)
		if strings.HasPrefix(r.Last(), "slow") {
			reply.Gate = gate
		}
		return reply
	}, nil)
	var all []*client
	for i := range 7 {
		all = append(all, w.send(chat(fmt.Sprintf("req_%d", i), fmt.Sprintf("slow answer %d", i))))
		if i == 3 {
			w.runner("r1", holds(4))
		}
	}
	for _, c := range all[4:] {
		c.until(queue.FrameQueued)
	}
	// The engine notices later that a request is cancelled than the runner does.
	if n := e.Most(); n != 4 {
		t.Errorf("the engine computed %d requests at the same time, want 4", n)
	}
	if err := queue.New(w.bus).Cancel(w.ctx(), all[1].req.Ref(), "test"); err != nil {
		t.Fatal(err)
	}
	all[1].wantError(queue.Cancelled, queue.CodeCancelled)
	all[4].until(queue.FrameStarted)
	w.runner("r1", holds(4))
	close(gate)
	for i, c := range all {
		if i != 1 {
			c.want(fmt.Sprintf("slow answer %d", i))
		}
	}
	w.empty()
	w.runner("r1", idle)
}

// An attempt that breaks off does not disturb those in the other slots.
func TestSlotsFailAlone(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	gate := make(chan struct{})
	var broken atomic.Int32
	w.slotted("r1", 4, func(r enginetest.Request) enginetest.Reply {
		reply := enginetest.Echo(r)
		switch {
		case r.Last() == "breaks" && broken.Add(1) == 1:
			reply.BreakAfter = -1
		case strings.HasPrefix(r.Last(), "slow"):
			reply.Gate = gate
		}
		return reply
	}, nil)
	var slow []*client
	for i := range 3 {
		c := w.send(chat(fmt.Sprintf("req_%d", i), fmt.Sprintf("slow answer %d", i)))
		c.until(queue.FrameStarted)
		slow = append(slow, c)
	}
	w.send(chat("req_broken", "breaks")).want("breaks") // at the second attempt
	w.send(chat("req_next", "next")).want("next")
	close(gate)
	for i, c := range slow {
		c.want(fmt.Sprintf("slow answer %d", i))
		if o := c.outcome(); o.Attempts != 1 {
			t.Errorf("request %d took %d attempts, want 1", i, o.Attempts)
		}
	}
	w.empty()
}

// An engine that falls silent for one request while it generates for another does
// not hang: it is not restarted, and the silent request is tried again.
func TestSlotsSilentAlone(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	var asked, restarts atomic.Int32
	e, _ := w.slotted("r1", 4, func(r enginetest.Request) enginetest.Reply {
		switch r.Last() {
		case "silent":
			if asked.Add(1) == 1 {
				return enginetest.Reply{Pieces: []string{"never"}, Gate: make(chan struct{})}
			}
		case "steady":
			return enginetest.Reply{Pieces: []string{"a "}, Repeat: true, Every: 20 * time.Millisecond}
		}
		return enginetest.Echo(r)
	}, func(cfg *sidecar.Config) {
		cfg.Timeouts = sidecar.Timeouts{First: 3 * time.Second, Between: 3 * time.Second}
		cfg.Supervisor = restarter{func() error { restarts.Add(1); return nil }}
	})
	steady := w.send(chat("req_steady", "steady"))
	steady.until(queue.FrameDelta)
	w.send(chat("req_silent", "silent")).want("silent")
	if n := restarts.Load(); n != 0 {
		t.Errorf("the engine was restarted %d times while it generated", n)
	}
	steady.until(queue.FrameDelta)
	if err := queue.New(w.bus).Cancel(w.ctx(), steady.req.Ref(), "test"); err != nil {
		t.Fatal(err)
	}
	steady.wantError(queue.Cancelled, queue.CodeCancelled)
	w.eventually("the engine to stop", func() bool { return !e.Active() })
}

// A runner that ends lets answers that have begun come to their end, and hands
// back the others.
func TestSlotsDrain(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	gates := map[string]chan struct{}{"begun0": make(chan struct{}), "begun1": make(chan struct{}), "unbegun": make(chan struct{})}
	_, first := w.slotted("r1", 4, func(r enginetest.Request) enginetest.Reply {
		return enginetest.Reply{Pieces: []string{r.Last(), " end"}, Gate: gates[r.Last()]}
	}, func(cfg *sidecar.Config) { cfg.Grace = time.Minute })
	var begun []*client
	for i := range 2 {
		c := w.send(chat(fmt.Sprintf("req_%d", i), fmt.Sprintf("begun%d", i)))
		c.until(queue.FrameStarted)
		gates[fmt.Sprintf("begun%d", i)] <- struct{}{}
		c.until(queue.FrameDelta)
		begun = append(begun, c)
	}
	unbegun := w.send(chat("req_unbegun", "unbegun"))
	unbegun.until(queue.FrameStarted)
	first.cancel()
	w.slotted("r2", 4, nil, nil)
	unbegun.want("unbegun")
	for i, c := range begun {
		close(gates[fmt.Sprintf("begun%d", i)])
		c.want(fmt.Sprintf("begun%d end", i))
	}
	first.wait(t)
	w.empty()
}
