package serving_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
)

// How long the faults go on; make faults asks for more than make test.
var (
	rounds = flag.Int("rounds", 8, "faults in TestFaults, one after another")
	seed   = flag.Uint64("seed", 0, "of the faults; 0 is the time")
)

// TestFaults runs a workload while one process after the other is killed,
// frozen or cut off, and holds what everybody saw against what is promised.
func TestFaults(t *testing.T) {
	s := newStack(t, plan{gateways: 2, dispatchers: 2, runners: 3, runnerArgs: []string{"--between=5s", "--first=5s"}})
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-args -rounds %d -seed %d", *rounds, *seed)
	h := &history{}

	ctx, stop := context.WithCancel(t.Context())
	w := newWorkload(s)
	w.start(ctx, 8)
	rng := rand.New(rand.NewPCG(*seed, 1))
	for i := range *rounds {
		name := s.fault(t, h, i, rng)
		before := w.count()
		// The next fault comes when requests have passed after this one.
		eventually(t, "requests to end after "+name, func() bool { return w.count() >= before+10 })
	}
	stop()
	h.entries = w.wait()

	s.settle(t, h)
	counts := map[verdict]int{}
	for _, e := range h.entries {
		counts[e.verdict]++
	}
	t.Logf("%d requests: %v; %d generations", len(h.entries), counts, len(h.generations))
	if counts[ok] < *rounds {
		t.Errorf("hardly anything was answered: %v", counts)
	}
	for _, violation := range h.check() {
		t.Error(violation)
	}
}

// fault does the i-th thing: all kinds come in turn, and each to a process
// that chance picks.
func (s *stack) fault(t *testing.T, h *history, i int, rng *rand.Rand) string {
	t.Helper()
	pick := func(from []*process) *process { return from[rng.IntN(len(from))] }
	pause := time.Duration(1+rng.IntN(5)) * time.Second
	kinds := []struct {
		name string
		do   func()
	}{
		{"kill engine", func() { pick(s.engines).kill() }},
		{"kill dispatcher leader", func() { s.leader(t).kill() }},
		{"kill sidecar", func() { pick(s.sidecars).kill() }},
		{"kill gateway", func() { h.touch(); pick(s.gateways).kill(); h.touch() }},
		{"kill nats-server", func() { s.nats.kill() }},
		{"cut connections", func() { s.cutter.cut() }},
		{"freeze dispatcher leader", func() { s.leader(t).freeze(t.Context(), pause+5*time.Second) }},
		{"freeze sidecar", func() { pick(s.sidecars).freeze(t.Context(), pause+8*time.Second) }},
		{"roll out sidecar", func() { pick(s.sidecars).terminate() }},
		{"freeze engine", func() { pick(s.engines).freeze(t.Context(), pause) }},
		{"freeze gateway", func() { pick(s.gateways).freeze(t.Context(), pause) }},
		{"roll out dispatcher", func() { pick(s.dispatchers).terminate() }},
		{"freeze nats-server", func() { s.nats.freeze(t.Context(), pause) }},
		{"roll out gateway", func() { h.touch(); pick(s.gateways).terminate(); h.touch() }},
	}
	k := kinds[i%len(kinds)]
	begun := time.Now()
	k.do()
	t.Logf("%-26s %v", k.name, time.Since(begun).Round(time.Millisecond))
	return k.name
}

func (h *history) touch() { h.faults = append(h.faults, time.Now()) }

// leader is the dispatcher that leads now, or any if none does.
func (s *stack) leader(t *testing.T) *process {
	t.Helper()
	for i, addr := range s.health {
		if metric(t, addr, "koldun_dispatcher_sessions") == "1" {
			return s.dispatchers[i]
		}
	}
	return s.dispatchers[0]
}

// settle waits until nothing is queued, and collects what was recorded.
func (s *stack) settle(t *testing.T, h *history) {
	t.Helper()
	b := s.bus()
	eventually(t, "the queue to be empty", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		stream, err := b.JetStream().Stream(ctx, names.RequestStream)
		if err != nil {
			return false
		}
		h.queued = stream.CachedInfo().State.Msgs
		return h.queued == 0
	})
	eventually(t, "the outcomes", func() bool {
		all, err := outcomes(t.Context(), b)
		h.outcomes = all
		return err == nil
	})
	h.generations = s.generations()
}

// outcomes reads the whole stream of terminal records.
func outcomes(ctx context.Context, b *bus.Bus) (map[string][]bus.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	consumer, err := b.JetStream().OrderedConsumer(ctx, names.OutcomeStream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return nil, err
	}
	left, err := consumer.Info(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string][]bus.Outcome{}
	for range left.NumPending {
		msg, err := consumer.Next()
		if err != nil {
			return nil, err
		}
		var o bus.Outcome
		if err := json.Unmarshal(msg.Data(), &o); err != nil {
			return nil, err
		}
		all[o.Request] = append(all[o.Request], o)
	}
	return all, nil
}

// A workload is clients that ask one thing after the other.
type workload struct {
	s      *stack
	client *http.Client
	wg     sync.WaitGroup

	mu      sync.Mutex
	entries []entry
}

func newWorkload(s *stack) *workload {
	return &workload{s: s, client: &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// start runs n clients until ctx ends; what they have begun they finish.
func (w *workload) start(ctx context.Context, n int) {
	for c := range n {
		w.wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				want := wish{ID: fmt.Sprintf("c%d-%d", c, i), N: 4 + i%9, Every: time.Duration(1+i%15) * time.Millisecond}
				leave := 0
				if i%11 == 10 {
					leave = 2
				}
				e := ask(context.Background(), w.client, w.s.urls[(c+i)%len(w.s.urls)], want, i%4 != 3, leave)
				w.mu.Lock()
				w.entries = append(w.entries, e)
				w.mu.Unlock()
				if e.status == 0 {
					time.Sleep(50 * time.Millisecond) // nobody listens there just now
				}
			}
		})
	}
}

func (w *workload) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, e := range w.entries {
		if e.verdict == ok {
			n++
		}
	}
	return n
}

func (w *workload) wait() []entry {
	w.wg.Wait()
	return w.entries
}

// A client that goes away stops the computation within a second.
func TestLeavingStopsTheEngine(t *testing.T) {
	s := newStack(t, plan{gateways: 1, dispatchers: 1, runners: 1})
	var took time.Duration
	for i := range 3 { // a machine may be busy at one moment, and not at three
		w := wish{ID: fmt.Sprintf("endless%d", i), N: 1 << 17, Every: 2 * time.Millisecond}
		e := ask(t.Context(), http.DefaultClient, s.urls[0], w, true, 2)
		if e.verdict != left {
			t.Fatalf("the client did not leave: %+v", e)
		}
		var stopped generation
		eventually(t, "the engine to stop", func() bool {
			all := s.generations()
			if len(all) <= i {
				return false
			}
			stopped = all[i]
			return true
		})
		if took = stopped.Ended.Sub(e.ended); took < time.Second {
			t.Logf("stopped after %v and %d pieces", took, stopped.Pieces)
			return
		}
	}
	t.Errorf("it went on for %v", took)
}
