package sidecar_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/sidecar"
)

// A blow is what happens to a node of a real ring.
type blow struct {
	name string
	do   func()
	// over ends it; nil if it is over when do returns.
	over func()
}

// blows to a ring of four: every process is killed, a worker is frozen, and a
// link between nodes is cut and stalled.
func (e target) blows(t *testing.T) []blow {
	out := []blow{{name: "kill root", do: e.kill}}
	for i, port := range e.workers {
		out = append(out, blow{name: fmt.Sprint("kill worker ", i), do: func() { kill(t, port) }})
	}
	return append(out,
		blow{name: "freeze worker 1", do: func() { signalPort(t, e.workers[1], syscall.SIGSTOP) }},
		blow{name: "cut link to worker 2", do: e.links[2].Cut},
		blow{name: "stall link to worker 0", do: e.links[0].Stall, over: e.links[0].Resume},
	)
}

// A crowd of clients sends the same question again and again, and records what
// each request received.
type crowd struct {
	w    *world
	stop chan struct{}
	all  sync.WaitGroup

	mu   sync.Mutex
	seen []history
}

func (w *world) crowd(clients int) *crowd {
	c := &crowd{w: w, stop: make(chan struct{})}
	for n := range clients {
		c.all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-c.stop:
					return
				default:
				}
				r := chat(fmt.Sprintf("req_%d_%d", n, i), question)
				r.Tenant = fmt.Sprint("t", n)
				c.record(w.send(r))
			}
		})
	}
	return c
}

// record reads an answer to its end.
func (c *crowd) record(cl *client) {
	c.w.t.Helper()
	h := history{id: cl.req.ID, want: reply}
	h.text, h.last = cl.finish()
	h.outcome = cl.outcome()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, h)
}

// completed counts the complete answers.
func (c *crowd) completed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(c.seen), func(h history) bool { return h.outcome.State != queue.Completed }))
}

// judge waits for the clients and checks what they received.
func (c *crowd) judge() {
	c.w.t.Helper()
	c.end()
	broken := 0
	for _, h := range c.seen {
		if err := h.check(); err != nil {
			c.w.t.Error(err)
		}
		if h.outcome.State != queue.Completed {
			broken++
			if h.text == "" {
				c.w.t.Errorf("%s failed without text: %+v", h.id, h.outcome.Error)
			}
		}
	}
	c.w.empty()
	c.w.t.Logf("%d requests, of which %d broke off after some text", len(c.seen), broken)
	for id, n := range c.w.ends() {
		if n != 1 {
			c.w.t.Errorf("%s has %d terminal records", id, n)
		}
	}
}

// ends counts the terminal records of each request.
func (w *world) ends() map[string]int {
	w.t.Helper()
	records, err := w.bus.JetStream().OrderedConsumer(w.ctx(), names.OutcomeStream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		w.t.Fatal(err)
	}
	info, err := records.Info(w.ctx())
	if err != nil {
		w.t.Fatal(err)
	}
	ends := map[string]int{}
	for range info.NumPending {
		msg, err := records.Next()
		if err != nil {
			w.t.Fatal(err)
		}
		var o queue.Outcome
		if err := json.Unmarshal(msg.Data(), &o); err != nil {
			w.t.Fatal(err)
		}
		if o.State != "" { // otherwise it is a record of failed attempts
			ends[o.Request]++
		}
	}
	return ends
}

func (c *crowd) end() {
	select {
	case <-c.stop:
	default:
		close(c.stop)
	}
	c.all.Wait()
}

// While every node of a ring is killed, one is frozen and links are cut, each
// request ends once, with one whole answer or, after some text, with an error.
func TestRingFaults(t *testing.T) {
	e := ring(t, 3)
	w := drive(newWorld(t), e, sidecar.Timeouts{First: 2 * time.Second, Between: 2 * time.Second})
	w.send(chat("req_first", question)).want(reply)
	c := w.crowd(3)
	defer c.end() // goroutines must not use t after the test
	for i, f := range e.blows(t) {
		// It strikes while an answer is computed, before or after its first text.
		struck := w.send(chat(fmt.Sprint("req_struck_", i), question))
		struck.until([]queue.FrameKind{queue.FrameStarted, queue.FrameDelta}[i%2])
		before, begun := c.completed(), time.Now()
		f.do()
		if f.over != nil {
			w.eventually("the ring to be found broken", func() bool { return e.stalled(w.ctx()) })
			f.over()
		}
		c.record(struck)
		w.eventually("answers after: "+f.name, func() bool { return c.completed() >= before+3 })
		t.Logf("%-22s three answers within %v", f.name, time.Since(begun).Round(10*time.Millisecond))
	}
	c.judge()
}

// While a ring is dead, what it has and what comes is answered by another member: no
// request waits for the ring.
func TestAnotherMemberAnswersForADeadRing(t *testing.T) {
	e := ring(t, 1)
	w := drive(newWorld(t), e, sidecar.Timeouts{})
	w.send(chat("req_first", question)).want(reply)
	e.links[0].Stall() // no token comes, and the ring cannot form again
	struck := w.send(chat("req_struck", question))
	struck.until(queue.FrameStarted)
	w.sidecar("r2", enginetest.Start(t, nil)) // repeats the question
	w.runner("r2", idle)
	kill(t, e.workers[0])
	struck.want(question)
	w.runner("r1", func(r queue.Runner) bool { return r.State == queue.RunnerStarting })
	for i := range 3 {
		c := w.send(chat(fmt.Sprint("req_", i), question))
		c.want(question)
		if o := c.outcome(); o.Runner != "r2" || o.Attempts != 1 {
			t.Errorf("runner %q answered after %d attempts, want r2 after one", o.Runner, o.Attempts)
		}
	}
	e.links[0].Resume()
	w.runner("r1", idle)
}

// stalled reports whether the root does not serve.
func (e target) stalled(ctx context.Context) bool {
	state, err := e.supervisor.State(ctx)
	return err == nil && !strings.HasPrefix(state, "serving")
}
