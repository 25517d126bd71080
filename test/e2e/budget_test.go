package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/test/cluster"
)

// changedAfter is the time from the creation of a claim to its change.
const changedAfter = 10 * time.Second

// leftAtLeast is what a composite must keep of the 100 events that Crossplane allows at
// once. An idle machine leaves 28 or more. On a busy one controllers write states that an
// idle one skips, which takes up to 20 events more.
const leftAtLeast = 5

// enough tests that composites of a name, one or more of each resource, kept
// leftAtLeast events or more.
func (b *budgets) enough(t *testing.T, name string, resources ...string) {
	t.Helper()
	t.Logf("budget:\n%s", b.counter.Report(name))
	for _, resource := range resources {
		switch left, found := b.counter.LowestOf(b.prefix+resource, name); {
		case !found:
			t.Errorf("no events of %s %q were counted", resource, name)
		case left < leftAtLeast:
			t.Errorf("%s kept %.0f events, want %d or more", resource, left, leftAtLeast)
		}
	}
}

// TestQuickstartBudget tests that the quickstart, with all ready at once, leaves enough
// of each composite's events for a change soon after.
func TestQuickstartBudget(t *testing.T) {
	t.Parallel()
	for name := range flavours() {
		t.Run(name, func(t *testing.T) {
			p := installed(t, name)
			p.watch(t)
			p.processes.start(t)
			p.quickChange(t)
		})
	}
}

// quickChange changes the quickstart soon after its creation.
func (p *suite) quickChange(t *testing.T) {
	const name = "koldun-tiny"
	ctx := t.Context()
	claim := read(t, repository+"/examples/quickstart/dllama.yaml")
	began := time.Now()
	if err := p.Apply(ctx, claim); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the quickstart to be ready", p.holds("default", api, "Dllama", name, "Ready"))
	t.Logf("ready after %s", time.Since(began).Round(time.Millisecond))
	sleep(t, time.Until(began.Add(changedAfter)))
	began = time.Now()
	if err := p.Apply(ctx, strings.Replace(claim, "spec:", "spec:\n  engine: {threads: 2}", 1)); err != nil {
		t.Fatal(err)
	}
	root := func(check func(*unstructured.Unstructured) error) func(context.Context) error {
		return func(ctx context.Context) error {
			set, err := p.get(ctx, "default", "apps/v1", "StatefulSet", name+"-root")
			if err != nil {
				return err
			}
			return check(set)
		}
	}
	cluster.Eventually(t, "the change to reach the StatefulSet", root(changed))
	t.Logf("changed after %s", time.Since(began).Round(time.Millisecond)) // no limit: busy cores take longer, and breakersClosed sees what an open breaker holds up
	cluster.Eventually(t, "the change to be rolled out", root(rolled))
	t.Logf("rolled out after %s", time.Since(began).Round(time.Millisecond))
	cluster.Eventually(t, "the change to be reported", func(ctx context.Context) error {
		claim, err := p.get(ctx, "default", api, "Dllama", name)
		if err != nil {
			return err
		}
		ready := conditionOf(claim, "Ready")
		if since, _ := ready["lastTransitionTime"].(string); ready["status"] != "True" || since < began.UTC().Format(time.RFC3339) {
			return fmt.Errorf("the condition is %v", ready)
		}
		return nil
	})
	t.Logf("reported after %s", time.Since(began).Round(time.Millisecond))
	p.budgets.enough(t, name, "dllamas", "ingresses", "models")
	p.budgets.noneOpened(t)
	if err := p.Delete(ctx, "default", claim); err != nil {
		t.Fatal(err)
	}
}

// changed returns an error until a StatefulSet has changed.
func changed(set *unstructured.Unstructured) error {
	if g := set.GetGeneration(); g < 2 {
		return fmt.Errorf("the StatefulSet has generation %d", g)
	}
	return nil
}

// rolled returns an error until all pods of a StatefulSet are of its newest revision.
func rolled(set *unstructured.Unstructured) error {
	status, _, _ := unstructured.NestedMap(set.Object, "status")
	if status["currentRevision"] != status["updateRevision"] || status["readyReplicas"] != int64(1) || status["observedGeneration"] != set.GetGeneration() {
		return fmt.Errorf("the status is %v", status)
	}
	return nil
}
