package sidecar_test

import (
	"context"
	"testing"

	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/sidecar"
	"github.com/gorizond/koldun/test/waittest"
)

// A teller is a supervisor that says what a test wants.
type teller struct {
	sessions chan string // each is returned once
	state    chan string // the state, taken and put back
}

func (teller) Restart(context.Context) error { return nil }

func (s teller) State(context.Context) (string, error) {
	now := <-s.state
	s.state <- now
	return now, nil
}

func (s teller) Session(ctx context.Context, _ string) (string, error) {
	select {
	case now := <-s.sessions:
		return now, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// A runner whose engine has lost a worker gets no request while another is idle,
// and tells how far it has loaded.
func TestRingBreaksWhileIdle(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	broken, other := enginetest.Start(t, nil), enginetest.Start(t, nil)
	s := teller{make(chan string), make(chan string, 1)}
	s.state <- "loading 3 of 32"
	w.configured("r1", broken, func(cfg *sidecar.Config) { cfg.Supervisor = s })
	waittest.Send(t, "the first session", s.sessions, "a.0")
	w.runner("r1", idle)
	broken.Stop()
	waittest.Send(t, "the next session", s.sessions, "a.1")
	w.runner("r1", func(r queue.Runner) bool {
		return r.State == queue.RunnerStarting && r.Progress == "loading 3 of 32"
	})
	w.sidecar("r2", other)
	w.runner("r2", idle)
	c := w.send(chat("req_1", "hello"))
	c.want("hello")
	if o := c.outcome(); o.Runner != "r2" || o.Attempts != 1 {
		t.Errorf("runner %q answered after %d attempts, want r2 after one", o.Runner, o.Attempts)
	}
	if err := broken.Run(); err != nil {
		t.Fatal(err)
	}
	<-s.state
	s.state <- "serving"
	w.runner("r1", func(r queue.Runner) bool { return idle(r) && r.Progress == "" })
}

// A request that an engine never saw, because it does not run, does not count as
// tried.
func TestEngineIsNotRunning(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e := enginetest.Start(t, nil)
	w.sidecar("r1", e)
	w.runner("r1", idle)
	e.Stop()
	c := w.send(chat("req_1", "hello"))
	w.runner("r1", func(r queue.Runner) bool { return r.State == queue.RunnerStarting })
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	c.want("hello")
	if o := c.outcome(); o.Attempts != 1 {
		t.Errorf("%d attempts, want one", o.Attempts)
	}
}
