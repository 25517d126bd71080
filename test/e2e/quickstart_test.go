package e2e_test

import (
	"testing"
	"time"

	"github.com/gorizond/koldun/test/cluster"
)

// idleFor is longer than the TTL of the function's response, after which Crossplane
// calls the function again.
const idleFor = 70 * time.Second

// settled is a time without changes after which all readiness has been reported.
const settled = 10 * time.Second

// quickstart tests that the quickstart composes what koldun render prints, reports on
// the claim that it is ready, stays idle, and leaves nothing after its deletion.
func (p *suite) quickstart(t *testing.T) {
	const name = "koldun-tiny"
	ctx := t.Context()
	claim := read(t, repository+"/examples/quickstart/dllama.yaml")
	if err := p.Apply(ctx, claim); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { t.Logf("budget:\n%s", p.budgets.counter.Report(name)) })
	for _, condition := range []string{"Serving", "Ready", "Synced"} {
		cluster.Eventually(t, "the quickstart to be "+condition, p.holds("default", api, "Dllama", name, condition))
	}
	for _, message := range compare(t, read(t, repository+"/cmd/koldun/render/testdata/golden/quickstart-dllama.yaml"), p.recorder.composed("default")) {
		t.Error(message)
	}
	p.staysIdle(t, name)
	p.traced(t, name, "Dllama/koldun-tiny", "Model/koldun-tiny", "Ingress/koldun-tiny", "StatefulSet/koldun-tiny-root", "ModelArtifact/koldun-tiny-converted-")
	if err := p.Delete(ctx, "default", claim); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "nothing to be left of the quickstart", p.nothingLeftIn("default"))
}

// sleep waits for d or until the test ends.
func sleep(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-t.Context().Done():
	case <-time.After(d):
	}
}

// staysIdle tests that an idle composite does not change.
func (p *suite) staysIdle(t *testing.T, name string) {
	t.Helper()
	before := len(p.recorder.changed(name))
	for range 30 { // with more rounds it is not idle
		sleep(t, settled) // wait for the last events
		now := len(p.recorder.changed(name))
		if now == before {
			break
		}
		before = now
	}
	sleep(t, idleFor)
	if after := p.recorder.changed(name); len(after) > before {
		t.Errorf("objects changed while idle: %v", after[before:])
	}
}
