package e2e_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/test/cluster"
)

// tiny is the beginning of claims of the quickstart's model; how they are exposed follows.
const tiny = `
apiVersion: koldun.gorizond.io/v1
kind: Dllama
metadata: {name: koldun-tiny}
spec:
  model:
    sourceUrl: https://huggingface.co/gorizond/koldun-tiny
    conversion: {weightsFloatType: q40}
`

// fromZero is the quickstart with a pool that may be empty.
const fromZero = tiny + `  expose:
    allowAnonymous: true
    scaling: {minDllamas: 0, maxDllamas: 1, scaleDownIdleSeconds: 1}
`

// TestExposeScalesToZero tests an exposed Dllama with minDllamas 0: it serves without a
// root, the first request starts one and is answered, and idleness removes it.
func TestExposeScalesToZero(t *testing.T) {
	t.Parallel()
	for name := range flavours() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := installed(t, name)
			p.watch(t)
			p.processes.start(t)
			p.fromZero(t)
			p.budgets.noneOpened(t)
		})
	}
}

func (p *suite) fromZero(t *testing.T) {
	ctx, ns := t.Context(), p.Namespace(t)
	t.Cleanup(func() { t.Logf("budget:\n%s", p.budgets.counter.Report("koldun-tiny")) })
	if err := p.ApplyIn(ctx, ns, fromZero); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		cluster.Eventually(t, "the claim to be ready and idle", p.idle(ns, "koldun-tiny"))
		cluster.Eventually(t, "no root without requests", p.roots(ns, 0))
		claim, err := p.get(ctx, ns, api, "Dllama", "koldun-tiny")
		if err != nil {
			t.Fatal(err)
		}
		// Users ask some time after the claim was created, or a pool has gone.
		p.budgets.await(t, "koldun-tiny", rested)
		url, _, _ := unstructured.NestedString(claim.Object, "status", "url")
		began := time.Now()
		if err := ask(ctx, p.processes.node.HTTP(), url, nil); err != nil {
			t.Fatal(err)
		}
		t.Logf("the first answer took %v", time.Since(began))
	}
	cluster.Eventually(t, "no root without requests", p.roots(ns, 0))
	if err := p.Delete(ctx, ns, fromZero); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "nothing to be left of the claim", p.nothingLeftIn(ns))
}

// idle returns a check that fails unless a Dllama is ready and its pool is empty.
func (ob *objects) idle(ns, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := ob.holds(ns, api, "Dllama", name, "Ready")(ctx); err != nil {
			return err
		}
		d, err := ob.get(ctx, ns, api, "Dllama", name)
		if err != nil {
			return err
		}
		if serving := conditionOf(d, "Serving"); serving["status"] != "True" || serving["reason"] != "Idle" {
			return fmt.Errorf("the condition Serving is %v", serving)
		}
		return nil
	}
}

// roots returns a check that fails unless the namespace has so many StatefulSets.
func (p *suite) roots(ns string, want int) func(context.Context) error {
	return func(ctx context.Context) error {
		sets, err := (&serving{suite: p, ns: ns}).list(ctx, "apps/v1", "StatefulSet")
		if err == nil && len(sets) != want {
			err = fmt.Errorf("there are %d StatefulSets, want %d", len(sets), want)
		}
		return err
	}
}
