package e2e_test

import (
	"testing"
	"time"

	"github.com/gorizond/koldun/test/cluster"
)

// idleFor is longer than the time for which Crossplane takes an answer of the
// function as good: it asks again in between.
const idleFor = 70 * time.Second

// settled is how long nothing happens any more when all that became ready has
// been told.
const settled = 10 * time.Second

// quickstart becomes what koldun render prints, and ready; it tells so on the
// claim, and then rests; deleted, it leaves nothing.
func (p *proof) quickstart(t *testing.T) {
	const name = "koldun-tiny"
	ctx := t.Context()
	claim := read(t, repository+"/examples/quickstart/dllama.yaml")
	if err := p.Apply(ctx, claim); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { t.Logf("budget:\n%s", p.budget.Report(name)) })
	for _, condition := range []string{"Serving", "Ready", "Synced"} {
		cluster.Eventually(t, "the quickstart to be "+condition, p.holds("default", api, "Dllama", name, condition))
	}
	for _, message := range compare(t, read(t, repository+"/cmd/koldun/testdata/golden/quickstart-dllama.yaml"), p.recorder.composed("default")) {
		t.Error(message)
	}
	p.rests(t, name)
	if err := p.Delete(ctx, "default", claim); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "nothing to be left of the quickstart", p.nothing("default"))
}

// pass lets time pass.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-t.Context().Done():
	case <-time.After(d):
	}
}

// rests shows that nothing changes when nothing has to.
func (p *proof) rests(t *testing.T, name string) {
	t.Helper()
	before := len(p.recorder.changed(name))
	for range 30 { // more is no rest
		pass(t, settled) // the last events of what became ready
		now := len(p.recorder.changed(name))
		if now == before {
			break
		}
		before = now
	}
	pass(t, idleFor)
	if after := p.recorder.changed(name); len(after) > before {
		t.Errorf("while idle, these changed: %v", after[before:])
	}
}
