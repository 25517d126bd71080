package sidecar_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// A history is what one client received for one request.
type history struct {
	id, want string
	text     string
	last     queue.Frame
	outcome  queue.Outcome
}

// check compares a history with the guarantees.
func (h history) check() error {
	switch {
	case !strings.HasPrefix(h.want, h.text):
		return fmt.Errorf("%s: text %q is not of one generation of %q", h.id, h.text, h.want)
	case h.last.Kind == queue.FrameEnd && h.text != h.want:
		return fmt.Errorf("%s: ended with %q, want %q", h.id, h.text, h.want)
	case h.last.Kind == queue.FrameEnd && h.outcome.State != queue.Completed:
		return fmt.Errorf("%s: the client saw the end, the outcome is %s (%+v)", h.id, h.outcome.State, h.outcome.Error)
	case h.last.Kind == queue.FrameError && h.outcome.State == queue.Completed && h.last.Error.Code != queue.CodeInterrupted:
		return fmt.Errorf("%s: the client saw %+v, the outcome is completed", h.id, h.last.Error)
	case h.last.Kind != queue.FrameEnd && h.last.Kind != queue.FrameError:
		return fmt.Errorf("%s: ended with %+v", h.id, h.last)
	}
	return nil
}

// Under random faults, every accepted request ends once, and no client receives text of
// two generations, text with a gap, or no end.
func TestFaultsAtRandom(t *testing.T) {
	const clients, requests, faults = 4, 30, 10
	w := newWorld(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))

	engine := func() *enginetest.Engine {
		return enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
			return enginetest.Reply{Pieces: strings.SplitAfter(r.Last(), " "), Every: 3 * time.Millisecond}
		})
	}
	const n = 3
	var engines [n]*enginetest.Engine
	var sidecars [n]*process
	for i := range n {
		engines[i] = engine()
		sidecars[i] = w.sidecar(fmt.Sprintf("r%d", i), engines[i])
	}
	dispatchers := [2]*process{w.dispatcher("d0"), w.dispatcher("d1")}

	histories := make(chan history, clients*requests)
	var wg sync.WaitGroup
	defer wg.Wait() // goroutines must not use t after the test
	for c := range clients {
		wg.Go(func() {
			for i := range requests {
				id := fmt.Sprintf("req_%d_%d", c, i)
				r := chat(id, strings.Repeat(id+" ", 10)+"end")
				r.Tenant = fmt.Sprintf("t%d", c)
				cl := w.send(r)
				h := history{id: id, want: strings.Repeat(id+" ", 10) + "end"}
				h.text, h.last = cl.finish()
				h.outcome = cl.outcome()
				histories <- h
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()

	count := 0
	tick := time.NewTicker(400 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-done:
			running = false
			continue
		case <-tick.C:
		}
		if count == faults {
			continue
		}
		count++
		i := rng.IntN(n)
		switch what := rng.IntN(5); what {
		case 0:
			d := rng.IntN(2)
			dispatchers[d].kill()
			dispatchers[d] = w.dispatcher(fmt.Sprintf("d%d", d))
		case 1:
			sidecars[i].kill()
			sidecars[i] = w.sidecar(fmt.Sprintf("r%d", i), engines[i])
		case 2:
			engines[i].Stop()
			if err := engines[i].Run(); err != nil {
				t.Fatal(err)
			}
		case 3:
			w.nats.Restart()
		case 4:
			sidecars[i].cancel()
			sidecars[i] = w.sidecar(fmt.Sprintf("r%d-%d", i, count), engines[i])
		}
	}
	close(histories)
	completed, broken := 0, 0
	for h := range histories {
		if err := h.check(); err != nil {
			t.Error(err)
		}
		if h.outcome.State == queue.Completed {
			completed++
		} else {
			broken++
		}
	}
	w.empty()
	t.Logf("%d completed, %d broken off, %d faults", completed, broken, count)
	if completed+broken != clients*requests {
		t.Errorf("%d requests have ended, want %d", completed+broken, clients*requests)
	}
	for _, e := range engines {
		if why := e.Aborted(); why != "" {
			t.Errorf("an engine aborted: %s", why)
		}
	}
}
