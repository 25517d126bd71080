package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/test/cluster"
)

// inVolume is a Model with files in an existing volume.
const inVolume = `{apiVersion: koldun.gorizond.io/v1, kind: Model, metadata: {name: big}, spec: {
  preConverted: true, preConvertedPVCName: files, preConvertedSizeBytes: 1000000}}`

// betweenChanges is the pause between changes of a claim: each change of the number of
// nodes is a rollout.
const betweenChanges = 30 * time.Second

// scale changes the number of nodes of a Dllama, which adds and removes workers.
func (p *suite) scale(t *testing.T) { p.scaleTo(t, "ring", 1, 2, 0) }

// rollout starts a Dllama of sixteen nodes.
func (p *suite) rollout(t *testing.T) { p.scaleTo(t, "sixteen", 4) }

// scaleTo gives a Dllama 1<<power nodes for each power in turn, and then deletes it.
func (p *suite) scaleTo(t *testing.T, name string, powers ...int) {
	ctx := t.Context()
	ns := p.Namespace(t)
	t.Cleanup(func() { t.Logf("budget:\n%s", p.budgets.counter.Report(name)) })
	dllama := func(power int) string {
		return fmt.Sprintf(`{apiVersion: koldun.gorizond.io/v1, kind: Dllama, metadata: {name: %s}, spec: {
  modelRef: {name: big}, replicaPower: %d, rootImage: 'ghcr.io/gorizond/distributed-llama:v0.16.4-1-g8d624a7'}}`, name, power)
	}
	if err := p.ApplyIn(ctx, ns, inVolume); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the Model to be ready", p.holds(ns, api, "Model", "big", "Ready"))
	for i, power := range powers {
		if i > 0 {
			sleep(t, betweenChanges)
		}
		if err := p.ApplyIn(ctx, ns, dllama(power)); err != nil {
			t.Fatal(err)
		}
		workers := int64(1)<<power - 1
		cluster.Eventually(t, fmt.Sprintf("%d workers", workers), p.rolledOut(ns, name, workers))
		cluster.Eventually(t, "the group to be ready", p.holds(ns, api, "Dllama", name, "Ready"))
	}
	planned, err := p.get(ctx, ns, api, "Dllama", name)
	if err != nil {
		t.Fatal(err)
	}
	if root, _, _ := unstructured.NestedInt64(planned.Object, "status", "rootMemoryBytes"); root == 0 {
		t.Errorf("the root has no memory plan, though the header of the files is known: %v", planned.Object["status"])
	}
	p.budgets.enough(t, "big", "models")
	if err := p.Delete(ctx, ns, dllama(0), inVolume); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "nothing to be left of the group", p.nothingLeftIn(ns))
}

// all tests one claim that uses every feature for several nodes: it fetches its model
// into a volume and exposes an endpoint.
func (p *suite) all(t *testing.T) {
	const name = "all"
	ctx := t.Context()
	ns := p.Namespace(t)
	t.Cleanup(func() { t.Logf("budget:\n%s", p.budgets.counter.Report(name)) })
	claim := fmt.Sprintf(`{apiVersion: koldun.gorizond.io/v1, kind: Dllama, metadata: {name: %s}, spec: {
  model: {sourceUrl: 'https://huggingface.co/gorizond/koldun-tiny', pv: {capacity: 1Gi}}, delivery: %s, expose: {},
  replicaPower: 2, rootImage: 'ghcr.io/gorizond/distributed-llama:v0.16.4-1-g8d624a7'}}`, name, p.delivery)
	if err := p.ApplyIn(ctx, ns, claim); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "3 workers", p.rolledOut(ns, name, 3))
	cluster.Eventually(t, "the claim to be ready", p.holds(ns, api, "Dllama", name, "Ready"))
	cluster.Eventually(t, "the Ingress to be ready", p.holds(ns, api, "Ingress", name, "Ready"))
	root, err := p.get(ctx, ns, "apps/v1", "StatefulSet", name+"-root")
	if err != nil {
		t.Fatal(err)
	}
	volumes, _, _ := unstructured.NestedSlice(root.Object, "spec", "template", "spec", "volumes")
	if !slices.ContainsFunc(volumes, func(v any) bool { return v.(map[string]any)["persistentVolumeClaim"] != nil }) {
		t.Errorf("the root pod does not mount the volume with the files, its volumes are %v", volumes)
	}
	if err := p.Delete(ctx, ns, claim); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "nothing to be left of the claim", p.nothingLeftIn(ns))
}

// rolledOut returns a check that fails until this number of workers is ready and
// reported.
func (ob *objects) rolledOut(ns, name string, workers int64) func(context.Context) error {
	return func(ctx context.Context) error {
		set, err := ob.get(ctx, ns, "apps/v1", "StatefulSet", name+"-workers")
		if workers == 0 {
			if err == nil {
				return fmt.Errorf("StatefulSet %q still exists", set.GetName())
			}
			return ob.reportsNodes(ctx, ns, name, 1, 0)
		}
		if err != nil {
			return err
		}
		replicas, _, _ := unstructured.NestedInt64(set.Object, "status", "readyReplicas")
		if replicas != workers {
			return fmt.Errorf("%d workers are ready", replicas)
		}
		return ob.reportsNodes(ctx, ns, name, workers+1, workers)
	}
}

// reportsNodes checks the nodes and ready workers in the status of the Dllama.
func (ob *objects) reportsNodes(ctx context.Context, ns, name string, nodes, ready int64) error {
	d, err := ob.get(ctx, ns, api, "Dllama", name)
	if err != nil {
		return err
	}
	n, _, _ := unstructured.NestedInt64(d.Object, "status", "nodes")
	r, _, _ := unstructured.NestedInt64(d.Object, "status", "readyWorkers")
	if n != nodes || r != ready {
		return fmt.Errorf("its status reports %d nodes and %d ready workers", n, r)
	}
	return nil
}
