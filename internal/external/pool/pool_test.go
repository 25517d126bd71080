package pool_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/external/pool"
	"github.com/gorizond/koldun/internal/external/pool/autoscaler"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

type world struct {
	t      *testing.T
	server *natstest.Server
	bus    *bus.Bus
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, server: natstest.Start(t)}
	w.bus = w.connect()
	if err := w.bus.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) connect() *bus.Bus {
	w.t.Helper()
	b, err := bus.Connect(w.t.Context(), bus.Config{URL: w.server.URL(), User: natstest.User, Password: natstest.Password, Name: w.t.Name()})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(b.Close)
	return b
}

func spec() pool.Spec {
	return pool.Spec{Session: "ns_m", Owner: "ns/session", ID: "uid", MinMembers: 1, MaxMembers: 3, ScaleUpBacklog: 1, ScaleDownIdleSeconds: 1}
}

func (w *world) request(id string) (seq uint64) {
	w.t.Helper()
	seq, err := queue.New(w.bus).Publish(w.t.Context(), queue.Request{ID: id, Session: "ns_m", Tenant: "t", Model: "ns/m", Body: []byte(`{}`)})
	if err != nil {
		w.t.Fatal(err)
	}
	return seq
}

// A runner speaks the protocol of a sidecar. The test controls its state.
type runner struct {
	w  *world
	mu sync.Mutex
	r  queue.Runner
}

func (w *world) runner(member string, state queue.RunnerState) *runner {
	w.t.Helper()
	name := names.MemberRunner("ns", "session", member)
	r := &runner{w: w, r: queue.Runner{Name: name, Session: "ns_m", State: state, Instance: "i"}}
	stop, err := bus.Serve(w.bus, names.DrainSubject("ns_m", name), func(_ string, o queue.DrainOrder) (queue.Runner, bool) {
		state := queue.RunnerIdle
		if o.Drain {
			state = queue.RunnerDraining
		}
		return r.set(func(r *queue.Runner) { r.State = state }), true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(stop)
	r.set(func(*queue.Runner) {})
	return r
}

// set changes the runner and writes its record.
func (r *runner) set(change func(*queue.Runner)) queue.Runner {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.r.Version++
	change(&r.r)
	if _, err := r.w.bus.PutTTL(r.w.t.Context(), names.RunnersBucket, names.RunnerKey("ns_m", r.r.Name), r.r, time.Hour); err != nil {
		r.w.t.Error(err)
	}
	return r.r
}

func (r *runner) begin(id string) {
	r.set(func(r *queue.Runner) {
		r.State, r.Requests, r.Held = queue.RunnerBusy, []string{id}, []queue.HeldAttempt{{Request: queue.Ref{ID: id}}}
	})
}

func (r *runner) finish() {
	r.set(func(r *queue.Runner) {
		r.Requests, r.Held = nil, nil
		if r.State == queue.RunnerBusy {
			r.State = queue.RunnerIdle
		}
	})
}

func (r *runner) state() queue.RunnerState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.r.State
}

func (r *runner) leave() {
	if err := r.w.bus.Delete(r.w.t.Context(), names.RunnersBucket, names.RunnerKey("ns_m", r.r.Name), 0); err != nil {
		r.w.t.Error(err)
	}
}

func text(s pool.Status) string {
	words := make([]string, 0, len(s.Members))
	for _, m := range s.Members {
		words = append(words, m.Name+map[autoscaler.Phase]string{autoscaler.Draining: "d", autoscaler.Drained: "D"}[m.Phase])
	}
	return strings.Join(words, " ")
}

// watch returns the reported status after each change.
func (w *world) watch(c *pool.Client, s pool.Spec) <-chan pool.Status {
	ctx, cancel := context.WithCancel(w.t.Context())
	statuses, done := make(chan pool.Status, 1000), make(chan error)
	go func() {
		done <- c.Watch(ctx, s, func() {
			o, err := c.Observe(ctx, s)
			if err == nil {
				statuses <- o.Status
			}
		})
	}()
	w.t.Cleanup(func() {
		cancel()
		if err := waittest.Receive(w.t, "the watch ends", done); err != nil {
			w.t.Errorf("Watch: %v", err)
		}
	})
	return statuses
}

func (w *world) await(statuses <-chan pool.Status, want string) pool.Status {
	w.t.Helper()
	last := "nothing"
	for timeout := time.After(waittest.Patience); ; {
		select {
		case s := <-statuses:
			if last = text(s); last == want {
				return s
			}
		case <-timeout:
			w.t.Fatalf("%q is statuses last, want %q", last, want)
		}
	}
}

func TestBurstDrainAndBack(t *testing.T) {
	w := newWorld(t)
	c := pool.New(w.connect())
	statuses := w.watch(c, spec())
	w.await(statuses, "0")
	runners := []*runner{w.runner("0", queue.RunnerIdle)}
	var seqs []uint64
	for i := range 5 {
		seqs = append(seqs, w.request(fmt.Sprintf("r%d", i)))
	}
	runners[0].begin("r0")
	s := w.await(statuses, "0 1 2")
	if s.Backlog == 0 || s.NextMember != 3 || s.LastActivity == nil {
		t.Errorf("in a burst: %+v", s)
	}
	runners = append(runners, w.runner("1", queue.RunnerIdle), w.runner("2", queue.RunnerIdle))
	runners[1].begin("r1")
	for _, seq := range seqs {
		if err := queue.New(w.bus).Delete(t.Context(), seq); err != nil {
			t.Fatal(err)
		}
	}
	runners[0].finish()
	runners[1].finish()
	// All requests have ended, so two members are drained.
	w.await(statuses, "0 1D 2D")
	for _, r := range runners[1:] {
		if r.state() != queue.RunnerDraining {
			t.Errorf("runner %s is %s, want it to drain", r.r.Name, r.state())
		}
		r.leave()
	}
	waittest.Until(t, "those that are gone are forgotten", func() bool {
		o, err := c.Observe(t.Context(), spec())
		return err == nil && (text(o.Status) == "0" || o.Status.NextMember == 3 && text(o.Status) == "0 1D 2D")
	})
	w.request("again")
	w.request("andagain")
	w.await(statuses, "0 3")
}

func TestAWorkingMemberIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	c := pool.New(w.connect())
	s := spec()
	s.MinMembers = 2
	scale := func(n int) string {
		t.Helper()
		s.MinMembers, s.MaxMembers = n, n
		o, err := c.Observe(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return text(o.Status)
	}
	if got := scale(2); got != "0 1" {
		t.Fatalf("in the beginning: %q", got)
	}
	zero, one := w.runner("0", queue.RunnerIdle), w.runner("1", queue.RunnerIdle)
	seq := w.request("r")
	one.begin("r")
	zero.begin("another")
	w.request("another")
	// A user scales to one.
	if got := scale(1); got != "0 1d" || one.state() != queue.RunnerDraining {
		t.Fatalf("scaled to one: %q, and the younger one is %s", got, one.state())
	}
	// A user scales back to two: the member still runs, so it becomes active again.
	if got := scale(2); got != "0 1" || one.state() == queue.RunnerDraining {
		t.Fatalf("scaled to two: %q, and the younger one is %s", got, one.state())
	}
	if got := scale(1); got != "0 1d" {
		t.Fatalf("scaled to one again: %q", got)
	}
	if err := queue.New(w.bus).Delete(t.Context(), seq); err != nil {
		t.Fatal(err)
	}
	one.finish()
	waittest.Until(t, "it is drained", func() bool { return scale(1) == "0 1D" })
}

// Two processes that watch one pool agree on its members.
func TestTwoManagersAgree(t *testing.T) {
	w := newWorld(t)
	first, second := w.watch(pool.New(w.connect()), spec()), w.watch(pool.New(w.connect()), spec())
	w.await(first, "0")
	w.await(second, "0")
	for i := range 10 {
		w.request(fmt.Sprintf("r%d", i))
	}
	w.await(first, "0 1 2")
	w.await(second, "0 1 2")
}

func TestARestartGoesOnWhereItWas(t *testing.T) {
	w := newWorld(t)
	s := spec()
	s.MinMembers, s.MaxMembers = 2, 2
	before, err := pool.New(w.connect()).Observe(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.MinMembers, s.MaxMembers = 1, 3
	s.ScaleDownIdleSeconds = 600
	after, err := pool.New(w.connect()).Observe(t.Context(), s)
	if err != nil || text(after.Status) != "0 1" {
		t.Errorf("another process shows %q, %v, want 0 1", text(after.Status), err)
	}
	// The stored plan is lost: the reported status replaces it.
	if err := w.bus.Manager().DeleteKV(t.Context(), names.PoolsBucket); err != nil {
		t.Fatal(err)
	}
	s.Known = before.Status
	s.Known.NextMember = 7
	o, err := pool.New(w.connect()).Observe(t.Context(), s)
	if err != nil || text(o.Status) != "0 1" || o.Status.NextMember != 7 {
		t.Errorf("after the loss: %+v, %v, want members 0 and 1, and 7 next", o.Status, err)
	}
}

func TestNumbers(t *testing.T) {
	w := newWorld(t)
	w.request("r1")
	w.request("r2")
	w.runner("0", queue.RunnerIdle).begin("r1")
	w.runner("1", queue.RunnerIdle)
	o, err := pool.New(w.connect()).Observe(t.Context(), spec())
	if err != nil {
		t.Fatal(err)
	}
	s := o.Status
	if s.Backlog != 1 || s.InFlight != 1 || s.BusyRunners != 1 || s.IdleRunners != 1 || s.OldestAgeSeconds < 0 || s.OldestAgeSeconds > 60 {
		t.Errorf("numbers: %+v", s)
	}
}

func TestOutages(t *testing.T) {
	w := newWorld(t)
	c := pool.New(w.bus)
	statuses := w.watch(c, spec())
	w.await(statuses, "0")
	w.server.Stop()
	waittest.Until(t, "the connection is lost", func() bool { return !w.bus.Connected() })
	if _, err := c.Observe(t.Context(), spec()); !fault.Is(err, fault.Transient) {
		t.Errorf("Observe without NATS: %v, want Transient", err)
	}
	back := w.bus.Reconnected()
	w.server.Restart()
	waittest.Receive(t, "the connection is back", back)
	w.request("r1")
	w.request("r2")
	w.await(statuses, "0 1")
}

func TestNoStreamYet(t *testing.T) {
	s := natstest.Start(t)
	b, err := bus.Connect(t.Context(), bus.Config{URL: s.URL(), User: natstest.User, Password: natstest.Password, Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if _, err := pool.New(b).Observe(t.Context(), spec()); !fault.Is(err, fault.NotFound) {
		t.Errorf("Observe: %v, want NotFound", err)
	}
}
