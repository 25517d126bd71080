package e2e_test

import (
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
	// sides from which a crowd asks: more than the largest pool answers at once.
	sides = 12
	// seedEnv repeats the order and the moments of the kills.
	seedEnv = "KOLDUN_SEED"
	// between kills, at most so many answers.
	between = 20
)

// burst makes the pool grow to its largest, kills a process of each kind while
// everybody asks, and lets the pool shrink to one and to none. No circuit breaker
// opens, and no member goes back to an earlier phase: nobody is drained while all
// are needed, and with one client a second one would have to be needed for longer
// than it takes to drain one that is idle.
func (s *serving) burst(t *testing.T) {
	random := seeded(t)
	s.refilled(t, whole)
	before := s.opens(t)
	c := s.call(t, sides)
	defer c.disperse()
	cluster.Eventually(t, "the largest pool", s.pool(largest))
	made, turned := s.hops.made(), s.hops.phases.changes()
	victims := []func(*testing.T, *callers, *rand.Rand){s.killGateway, s.killDispatcher, s.killProvider, s.killFunction}
	random.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
	for _, kill := range victims {
		if err := c.more(t.Context(), 1+random.Int64N(between)); err != nil {
			t.Fatal(err)
		}
		kill(t, c, random)
	}
	if err := c.more(t.Context(), between); err != nil {
		t.Fatal(err)
	}
	if now := s.hops.made(); now != made {
		t.Errorf("%d members came while the load was the same: the pool flaps", now-made)
	}
	if now := s.hops.phases.changes(); now != turned {
		t.Errorf("members changed their phase %d times while the load was the same: the pool flaps\n%s", now-turned, strings.Join(s.hops.phases.lines(), "\n"))
	}
	c.disperse()
	t.Logf("%d answers, %d connections broken with their gateway", c.answered.Load(), c.broken.Load())

	one := s.call(t, 1)
	defer one.disperse()
	cluster.Eventually(t, "a pool of one for one client", s.pool(1))
	one.disperse()
	t.Logf("%d answers while the pool shrank; %d members were ever made", one.answered.Load(), s.hops.made())
	cluster.Eventually(t, "the pool to go", s.pool(0))
	s.stayedClosed(t, before)
	t.Logf("phases of members:\n%s", strings.Join(s.hops.phases.lines(), "\n"))
	if lives := s.hops.phases.backwards(); len(lives) > 0 {
		t.Errorf("members went back to an earlier phase:\n%s", strings.Join(lives, "\n"))
	}
	s.end(t)
}

// seeded tells how to repeat what it decides.
func seeded(t *testing.T) *rand.Rand {
	seed, err := strconv.ParseUint(os.Getenv(seedEnv), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("%s=%d", seedEnv, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func (s *serving) killGateway(t *testing.T, c *callers, r *rand.Rand) {
	c.kill(func() { s.killPod(t, "gateway", r) })
}

func (s *serving) killDispatcher(t *testing.T, _ *callers, r *rand.Rand) {
	s.killPod(t, "dispatcher", r)
}

// killPod ends one pod's process, which the node starts again.
func (s *serving) killPod(t *testing.T, component string, r *rand.Rand) {
	t.Helper()
	var pods corev1.PodList
	if err := s.Client().List(t.Context(), &pods, client.InNamespace(s.ns), client.MatchingLabels{"koldun.gorizond.io/component": component}); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) == 0 {
		t.Fatalf("there is no pod of component %q", component)
	}
	pod := pods.Items[r.IntN(len(pods.Items))]
	t.Logf("kill %s", pod.Name)
	if !s.node.Kill(pod.Namespace, pod.Name, component) {
		t.Errorf("pod %q does not run", pod.Name)
	}
}

func (s *serving) killProvider(t *testing.T, _ *callers, r *rand.Rand) {
	i := r.IntN(len(s.providers))
	t.Logf("kill provider %d", i)
	if err := s.providers[i].Restart(); err != nil {
		t.Error(err)
	}
}

func (s *serving) killFunction(t *testing.T, _ *callers, _ *rand.Rand) {
	t.Log("kill function")
	if err := s.function.Restart(); err != nil {
		t.Error(err)
	}
}
