package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/cluster"
)

// coldEnv sets the number of cold starts.
const coldEnv = "KOLDUN_COLD_STARTS"

// rested is the minimal budget of circuit breakers before a pool is requested. A pool
// with one member takes 60 of its own 100, and 45 of its Ingress's.
const rested = 70

// whole is the level to which a budget of 100 recovers with little activity.
const whole = 95

// largest is the maximal size of the Ingress's pool.
const largest = 3

// onDemand is a Model, and an Ingress that scales its pool from zero.
const onDemand = `
apiVersion: koldun.gorizond.io/v1
kind: Model
metadata: {name: koldun-tiny}
spec:
  sourceUrl: https://huggingface.co/gorizond/koldun-tiny
  conversion: {weightsFloatType: q40}
---
apiVersion: koldun.gorizond.io/v1
kind: Ingress
metadata: {name: public}
spec:
  backend:
    replicas: 2
    allowAnonymous: true
    conversationTTL: 4s
    sessionScaling: {minDllamas: 1, maxDllamas: 3, scaleUpBacklog: 1, scaleDownIdleSeconds: 2}
`

// A serving is a running Model and Ingress.
type serving struct {
	*suite
	ns, url  string
	bus      *bus.Bus // with all rights of the namespace's account
	began    time.Time
	timeline *timeline
}

// TestServing tests that the composed resources serve requests: pods run, a request
// creates a pool, load grows it, idleness removes it, and no request is lost, whatever
// is killed.
func TestServing(t *testing.T) {
	t.Parallel()
	for name := range flavours() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := installed(t, name)
			p.watch(t)
			p.processes.start(t)
			cold, busy := p.serve(t), p.serve(t)
			t.Run("ColdStarts", cold.coldStarts)
			t.Run("Burst", busy.burst)
			p.processes.services.noKeys(t, cold.ns)
			p.processes.services.noKeys(t, busy.ns)
			if p.prefix == "" { // the flavours compose the same pods
				t.Run("Download", p.download)
				t.Run("Ring", p.ring) // its demand lasts longer than the test
			} else {
				t.Run("OtherSystems", p.otherSystems)
			}
		})
	}
}

// serve applies the claims and waits until the gateway accepts requests.
func (p *suite) serve(t *testing.T) *serving {
	t.Helper()
	s := &serving{suite: p, ns: p.Namespace(t), began: time.Now()}
	if err := p.ApplyIn(t.Context(), s.ns, onDemand); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the Model to be ready", p.holds(s.ns, api, "Model", "koldun-tiny", "Ready"))
	cluster.Eventually(t, "the Ingress to be ready", p.holds(s.ns, api, "Ingress", "public", "Ready"))
	cluster.Eventually(t, "the URL", func(ctx context.Context) error {
		ingress, err := p.get(ctx, s.ns, api, "Ingress", "public")
		if err != nil {
			return err
		}
		if s.url, _, _ = unstructured.NestedString(ingress.Object, "status", "url"); s.url == "" {
			return errors.New("the Ingress has no URL in its status")
		}
		return nil
	})
	s.bus = p.processes.services.nats.Of(s.ns)
	s.timeline = newTimeline(t, s)
	cluster.Eventually(t, "no pool without a request", s.pool(0))
	return s
}

// pool returns a check that fails unless the pool has exactly the wanted members, all
// ready.
func (s *serving) pool(want int) func(context.Context) error {
	return func(ctx context.Context) error {
		members, err := s.list(ctx, api, "Dllama")
		if err != nil {
			return err
		}
		sessions, err := s.list(ctx, api, "Session")
		if err != nil {
			return err
		}
		sets, err := s.list(ctx, "apps/v1", "StatefulSet")
		if err != nil {
			return err
		}
		ready := 0
		for i := range members {
			if conditionOf(&members[i], "Ready")["status"] == "True" {
				ready++
			}
		}
		if len(members) != want || ready != want || len(sets) != want || len(sessions) != min(want, 1) {
			return fmt.Errorf("got %d Sessions, %d Dllamas of which %d are ready, and %d StatefulSets; want %d", len(sessions), len(members), ready, len(sets), want)
		}
		return nil
	}
}

func (s *serving) list(ctx context.Context, apiVersion, kind string) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(apiVersion)
	list.SetKind(kind + "List")
	err := s.Client().List(ctx, list, client.InNamespace(s.ns))
	return list.Items, err
}

// coldStarts sends requests to a model without a pool, and lets the pool disappear
// again. No circuit breaker opens.
func (s *serving) coldStarts(t *testing.T) {
	n := 1
	if more, err := strconv.Atoi(os.Getenv(coldEnv)); err == nil {
		n = more
	}
	s.budgets.await(t, "public", rested)
	before := s.budgets.opens(t)
	for range n {
		s.budgets.await(t, "public", rested)
		s.timeline.begin()
		if err := ask(t.Context(), s.processes.node.HTTP(), s.url, func() { s.timeline.reach(stepText) }); err != nil {
			t.Fatal(err)
		}
		s.timeline.end()
		cluster.Eventually(t, "the pool to go", s.pool(0))
	}
	s.budgets.enough(t, "koldun-tiny-", "sessions", "dllamas")
	t.Logf("\n%s", s.timeline.table())
	s.stayedClosed(t, before)
	s.end(t)
}

// await waits until the circuit breakers have recovered: users send requests
// some time after an Ingress was created, and breakers do not allow a pool that starts
// and stops every few seconds.
func (b *budgets) await(t *testing.T, name string, least float64) {
	t.Helper()
	cluster.Eventually(t, "recovered budgets", func(context.Context) error {
		if left := b.counter.Left(name); left < least {
			return fmt.Errorf("the budget is %.0f, want %.0f\n%s", left, least, b.counter.Report(name))
		}
		return nil
	})
}

// opens returns the number of times circuit breakers have opened.
func (b *budgets) opens(t *testing.T) float64 {
	t.Helper()
	n, err := b.CrossplaneMetric(t.Context(), cluster.BreakerOpens)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// stayedClosed tests that no circuit breaker has opened since then. A slow machine does
// not open one: a pool causes as many events, and budgets have more time to recover.
func (s *serving) stayedClosed(t *testing.T, before float64) {
	t.Helper()
	if opens := s.budgets.opens(t); opens > before {
		t.Errorf("circuit breakers opened %v times:\n%s", opens-before, s.budgets.counter.Report(""))
	}
}

// end tests that all requests have ended, and that all objects are deleted.
func (s *serving) end(t *testing.T) {
	t.Helper()
	t.Logf("budgets:\n%s", s.budgets.counter.Report(""))
	s.nothingLost(t)
	s.nothingLeft(t)
}

// nothingLost tests that each published request has ended once.
func (s *serving) nothingLost(t *testing.T) {
	ids := s.timeline.requests()
	cluster.Eventually(t, "each request to have ended once", func(ctx context.Context) error {
		ends := map[string]int{}
		if err := queue.New(s.bus).Outcomes(ctx, "*", s.began, func(o queue.Outcome) bool {
			ends[o.Request]++
			return true
		}); err != nil {
			return err
		}
		for _, id := range ids {
			if ends[id] != 1 {
				return fmt.Errorf("request %q of %d has ended %d times", id, len(ids), ends[id])
			}
		}
		return queue.New(s.bus).OpenRequests(ctx, "*", func(o queue.OpenRequest) bool {
			t.Logf("request %q is still queued", o.ID)
			return true
		})
	})
	t.Logf("%d requests, each with one outcome", len(ids))
}

// nothingLeft deletes the claims and tests that no object remains.
func (s *serving) nothingLeft(t *testing.T) {
	cluster.Eventually(t, "the pool to go", s.pool(0))
	if err := s.Delete(t.Context(), s.ns, onDemand); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "nothing to be left of the claims", s.nothingLeftIn(s.ns))
}
