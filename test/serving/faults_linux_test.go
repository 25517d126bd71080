package serving_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// Length of the fault runs; make faults runs more than make test.
var (
	rounds = flag.Int("rounds", 14, "faults in TestFaults, all kinds in turn")
	seed   = flag.Uint64("seed", 0, "seed of the faults; 0 uses the time")
)

// faultySlots is the number of slots of each engine in the fault runs with several.
const faultySlots = 4

// TestFaults runs a workload while processes are killed, frozen or disconnected
// one after another, and checks the history against the guarantees. The slow kinds
// of faults run on a stack of their own, in parallel.
func TestFaults(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	all := len(kills()) + len(freezes())
	t.Logf("-args -rounds %d -seed %d", *rounds, *seed)
	for name, c := range map[string]struct {
		kinds []kind
		slots int
	}{
		"Kills":          {kills(), 1},
		"Freezes":        {freezes(), 1},
		"KillsOfSlots":   {kills(), faultySlots},
		"FreezesOfSlots": {freezes(), faultySlots},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults(t, c.kinds, (*rounds*len(c.kinds)+all-1)/all, c.slots)
		})
	}
}

// A kind is a kind of fault: do injects it and returns when it is over.
type kind struct {
	name    string
	gateway bool // whether it breaks connections of clients
	do      func(t *testing.T, s *stack, rng *rand.Rand)
}

func kills() []kind {
	return []kind{
		{"kill engine", false, func(_ *testing.T, s *stack, rng *rand.Rand) { pick(rng, s.engines).kill() }},
		{"kill dispatcher leader", false, func(t *testing.T, s *stack, _ *rand.Rand) { s.leader(t).kill() }},
		{"kill sidecar", false, func(_ *testing.T, s *stack, rng *rand.Rand) { pick(rng, s.sidecars).kill() }},
		{"kill gateway", true, func(t *testing.T, s *stack, rng *rand.Rand) { s.restart(t, rng, (*process).kill) }},
		{"kill nats-server", false, func(_ *testing.T, s *stack, _ *rand.Rand) { s.broker.process.kill() }},
		{"cut connections", false, func(_ *testing.T, s *stack, _ *rand.Rand) { s.broker.proxy.Cut() }},
		{"roll out sidecar", false, func(_ *testing.T, s *stack, rng *rand.Rand) { pick(rng, s.sidecars).terminate() }},
		{"roll out dispatcher", false, func(_ *testing.T, s *stack, rng *rand.Rand) { pick(rng, s.dispatchers).terminate() }},
		{"roll out gateway", true, func(t *testing.T, s *stack, rng *rand.Rand) { s.restart(t, rng, (*process).terminate) }},
	}
}

// restart restarts a gateway, and returns when it listens again.
func (s *stack) restart(t *testing.T, rng *rand.Rand, end func(*process)) {
	i := rng.IntN(len(s.gateways))
	end(s.gateways[i])
	address := strings.TrimPrefix(s.urls[i], "http://")
	waittest.Until(t, "gateway to listen at "+address, func() bool {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

// freezes returns the faults that suspend a process, long enough for others to
// notice: leases end after 3 s, records of runners after 9 s.
func freezes() []kind {
	pause := func(rng *rand.Rand, least time.Duration) time.Duration {
		return least + time.Duration(rng.Int64N(int64(3*time.Second)))
	}
	return []kind{
		{"freeze dispatcher leader", false, func(t *testing.T, s *stack, rng *rand.Rand) {
			s.leader(t).freeze(t.Context(), pause(rng, 4*time.Second))
		}},
		{"freeze sidecar", false, func(t *testing.T, s *stack, rng *rand.Rand) {
			pick(rng, s.sidecars).freeze(t.Context(), pause(rng, 9*time.Second))
		}},
		{"freeze engine", false, func(t *testing.T, s *stack, rng *rand.Rand) {
			pick(rng, s.engines).freeze(t.Context(), pause(rng, time.Second))
		}},
		{"freeze gateway", false, func(t *testing.T, s *stack, rng *rand.Rand) {
			pick(rng, s.gateways).freeze(t.Context(), pause(rng, time.Second))
		}},
		{"freeze nats-server", false, func(t *testing.T, s *stack, rng *rand.Rand) {
			s.broker.process.freeze(t.Context(), pause(rng, time.Second))
		}},
	}
}

func pick(rng *rand.Rand, from []*process) *process { return from[rng.IntN(len(from))] }

// faults injects n faults, the kinds in turn, each on a random process. Each engine
// has the given number of slots.
func faults(t *testing.T, kinds []kind, n, slots int) {
	tenants := []history.Tenant{history.NewTenant("amber"), history.NewTenant("birch"), history.NewTenant("cedar")}
	s := newStack(t, plan{
		gateways: 2, dispatchers: 2, runners: 3, slots: slots, runnerArgs: []string{"--between=5s", "--first=5s"}, tenants: tenants,
	})
	rng := rand.New(rand.NewPCG(*seed, uint64(len(kinds))))
	h := &history.History{Slots: slots}
	ctx, stop := context.WithCancel(t.Context())
	w := newWorkload(s, tenants)
	w.start(ctx, max(6, 3*slots))
	for i := range n {
		k := kinds[i%len(kinds)]
		h.Disturb(k.gateway, func() { k.do(t, s, rng) })
		last := h.Faults[len(h.Faults)-1]
		t.Logf("%-26s %v", k.name, last.To.Sub(last.From).Round(time.Millisecond))
		// The next fault follows when some requests, but not all that this fault
		// has affected, have been answered.
		before := w.count()
		waittest.Until(t, fmt.Sprintf("requests to be answered after fault %d (%s)", i, k.name), func() bool { return w.count() >= before+25 })
	}
	stop()
	w.wait(h)
	s.collect(t, h)
	counts := map[history.Verdict]int{}
	for _, e := range h.Entries {
		counts[e.Verdict]++
	}
	t.Logf("%d requests: %v; %d probes, %d generations", len(h.Entries), counts, len(h.Probes), len(h.Generations))
	if counts[history.OK] < n {
		t.Errorf("too few requests were answered: %v", counts)
	}
	if most := h.MaxConcurrent(); slots > 1 && most < 2 {
		t.Errorf("the engines have %d slots, and none computed %d requests at the same time", slots, 2)
	}
	h.Verify(t, history.EndsOnce, history.OneGeneration, history.NothingLost, history.TenantsIsolated)
}
