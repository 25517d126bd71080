package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
)

const (
	// sides is the number of concurrent clients: more than the slots of the largest
	// pool.
	sides = 12
	// unhurried is the pause between the requests of one client, whose answers only show
	// that it is served.
	unhurried = 100 * time.Millisecond
	// seedEnv sets the seed of the order and times of the kills.
	seedEnv = "KOLDUN_SEED"
	// between is the greatest number of answers between two kills.
	between = 20
)

// burst grows the pool to its maximum, kills all gateways and providers, a
// dispatcher and the function one after another under load, and lets the pool shrink
// to one member and to none. No circuit breaker opens, and no member returns to an
// earlier phase: no member is drained while all are needed, and one client never
// needs a second member for longer than it takes to drain an idle one.
func (s *serving) burst(t *testing.T) {
	random := newRandom(t)
	s.budgets.await(t, "public", whole)
	before := s.budgets.opens(t)
	c := s.call(t, sides, 0)
	defer c.stop()
	cluster.Eventually(t, "the largest pool", s.pool(largest))
	made, turned := s.timeline.made(), s.timeline.phases.changes()
	victims := s.victims(t, c, random)
	random.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
	for _, v := range victims {
		if err := c.more(t.Context(), 1+random.Int64N(between)); err != nil {
			t.Fatal(err)
		}
		t.Logf("kill %s", v.name)
		v.kill()
	}
	if err := c.more(t.Context(), between); err != nil {
		t.Fatal(err)
	}
	if now := s.timeline.made(); now != made {
		t.Errorf("%d members were created under constant load: the pool flaps", now-made)
	}
	if now := s.timeline.phases.changes(); now != turned {
		t.Errorf("members changed their phase %d times under constant load: the pool flaps\n%s", now-turned, strings.Join(s.timeline.phases.lines(), "\n"))
	}
	c.stop()
	t.Logf("%d answers, %d connections broken by kills of gateways", c.answered.Load(), c.broken.Load())

	one := s.call(t, 1, unhurried)
	defer one.stop()
	cluster.Eventually(t, "a pool of one for one client", s.pool(1))
	one.stop()
	t.Logf("%d answers while the pool shrank; %d members were created in total", one.answered.Load(), s.timeline.made())
	cluster.Eventually(t, "the pool to go", s.pool(0))
	s.stayedClosed(t, before)
	t.Logf("phases of members:\n%s", strings.Join(s.timeline.phases.lines(), "\n"))
	if lives := s.timeline.phases.backwards(); len(lives) > 0 {
		t.Errorf("members returned to an earlier phase:\n%s", strings.Join(lives, "\n"))
	}
	s.end(t)
}

// newRandom returns a random source, and logs its seed.
func newRandom(t *testing.T) *rand.Rand {
	seed, err := strconv.ParseUint(os.Getenv(seedEnv), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("%s=%d", seedEnv, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// A victim is a process that restarts after it was killed.
type victim struct {
	name string
	kill func()
}

// victims returns both gateways, both providers, a dispatcher and the function.
func (s *serving) victims(t *testing.T, c *callers, r *rand.Rand) []victim {
	t.Helper()
	gateways, dispatchers := s.pods(t, "gateway"), s.pods(t, "dispatcher")
	if len(gateways) != 2 || len(dispatchers) != 2 || len(s.processes.providers) != 2 {
		t.Fatalf("got %d gateways, %d dispatchers and %d providers, want two of each", len(gateways), len(dispatchers), len(s.processes.providers))
	}
	all := []victim{dispatchers[r.IntN(2)], restarted(t, "function", s.installer.function)}
	for i := range 2 {
		gateway := gateways[i]
		all = append(all, victim{gateway.name, func() { c.kill(gateway.kill) }}, restarted(t, fmt.Sprintf("provider %d", i), s.processes.providers[i]))
	}
	return all
}

// pods returns the pods of a component, whose only container has its name. The node
// restarts their processes.
func (s *serving) pods(t *testing.T, component string) []victim {
	t.Helper()
	return s.containers(t, component, component)
}

// containers returns a container of each pod of a component.
func (s *serving) containers(t *testing.T, component, container string) (out []victim) {
	t.Helper()
	var pods corev1.PodList
	if err := s.Client().List(t.Context(), &pods, client.InNamespace(s.ns), client.MatchingLabels{"koldun.gorizond.io/component": component}); err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		out = append(out, victim{pod.Name, func() {
			if !s.processes.node.Kill(pod.Namespace, pod.Name, container) {
				t.Errorf("container %q of pod %q does not run", container, pod.Name)
			}
		}})
	}
	return out
}

func restarted(t *testing.T, name string, p *cluster.Process) victim {
	return victim{name, func() {
		if err := p.Restart(); err != nil {
			t.Error(err)
		}
	}}
}
