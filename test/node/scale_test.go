package node_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/ask"
	"github.com/gorizond/koldun/test/cluster"
)

// TestScaleFromZero tests an Ingress for two models: nothing but the gateway and dispatchers
// runs until somebody asks, both models then answer at the same time, their pools go when
// nobody asks, and come again.
func TestScaleFromZero(t *testing.T) {
	w := koldun(t)
	t.Parallel()
	tell("From zero: the pools of two models come with a request, and go without one.")
	const ns, claims, first, second = "on-demand", "testdata/ondemand.yaml", "on-demand/tiny", "on-demand/exact"
	w.pods.restricted(t, ns)
	w.Kubectl(t, "apply", "-f", claims)
	for _, object := range []string{"model/tiny", "model/exact", "ingress.koldun.gorizond.io/public"} {
		w.claims.holds(t, ns, object, "Ready")
	}
	api := asks(w.services.url(t, ns, "public-gateway"), "")
	tell("From zero: the endpoint is ready")
	w.leftovers.noPools(t, ns)
	mustList(t, api, first, second)
	for _, start := range []string{"the first", "another"} {
		took := askTogether(t, api, first, second)
		tell("From zero: %s request to both models: first token after %s and %s", start, took[0].Round(100*time.Millisecond), took[1].Round(100*time.Millisecond))
		pools := askMember(t, api, first) + " and " + askMember(t, api, second)
		if got := regexp.MustCompile(`-[0-9a-f]+`).ReplaceAllString(pools, ""); got != "session/tiny and session/exact" {
			t.Errorf("the models are served by %s", pools)
		}
		asked := time.Now()
		w.leftovers.noPools(t, ns)
		tell("From zero: %s, which have answered, are gone after %s without a request", pools, time.Since(asked).Round(time.Second))
	}
	w.Kubectl(t, "delete", "-f", claims, "--wait=false")
	w.leftovers.none(t, ns)
}

// askTogether asks models at the same time, and returns the times until the first token.
func askTogether(t *testing.T, api ask.Client, models ...string) []time.Duration {
	t.Helper()
	took := make([]time.Duration, len(models))
	var all sync.WaitGroup
	for i, model := range models {
		all.Go(func() {
			first, text, err := api.Stream(t.Context(), model, question)
			if err != nil || text != answer {
				t.Errorf("%s answers %q: %v", model, text, err)
			}
			took[i] = first
		})
	}
	all.Wait()
	return took
}

// noPools waits until a namespace has no pool, and no pod of one.
func (l *leftovers) noPools(t *testing.T, ns string) {
	t.Helper()
	cluster.Eventually(t, "no pool", func(ctx context.Context) error {
		left, err := l.RunKubectl(ctx, "get", "sessions,dllamas,statefulsets", "--namespace", ns, "--output=name")
		if err != nil {
			return err
		}
		pods, err := l.RunKubectl(ctx, "get", "pods", "--namespace", ns, "--selector=koldun.gorizond.io/component=root", "--output=name")
		if left = strings.TrimSpace(left + pods); err == nil && left != "" {
			err = fmt.Errorf("there are %s", left)
		}
		return err
	})
}
