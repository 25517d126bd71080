package e2e_test

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
)

// shared is a ModelDownload and its volume, which is a folder on the node.
const shared = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: files}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
---
apiVersion: koldun.gorizond.io/v1
kind: ModelDownload
metadata: {name: shared}
spec:
  storagePVC: files
  models: [{name: gorizond/koldun-tiny}]
  settings: {forceReload: %t, keepAliveSeconds: 5}
`

// download tests a ModelDownload on a real volume, that a reload acts once, and that
// the Job of a complete model is not made again.
func (p *suite) download(t *testing.T) {
	ns := p.Namespace(t)
	first := p.downloaded(t, ns, "", false)
	p.budgets.enough(t, ns+"/", "modeldownloads")
	p.budgets.await(t, ns+"/shared", rested) // users reload some time after a download
	again := p.downloaded(t, ns, first, true)
	p.budgets.await(t, ns+"/shared", rested)
	// As at the end of the time for which a finished Job is kept.
	job := &unstructured.Unstructured{}
	job.SetAPIVersion("batch/v1")
	job.SetKind("Job")
	job.SetNamespace(ns)
	job.SetName(again)
	if err := p.Client().Delete(t.Context(), job, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the Job to be gone", func(ctx context.Context) error {
		return p.absent(ctx, ns, again)
	})
	// A change before Crossplane sees that composes the Job once more. It finds the files.
	cluster.Eventually(t, "Crossplane to see that", func(ctx context.Context) error {
		return p.composesNo(ctx, ns, again)
	})
	if err := p.ApplyIn(t.Context(), ns, fmt.Sprintf(shared, true)+"  nodePool: another\n"); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the change to be composed", func(ctx context.Context) error {
		d, err := p.get(ctx, ns, api, "ModelDownload", "shared")
		if err != nil {
			return err
		}
		if seen, _, _ := unstructured.NestedInt64(d.Object, "status", "observedGeneration"); seen < d.GetGeneration() {
			return fmt.Errorf("generation %d of %d is observed", seen, d.GetGeneration())
		}
		return nil
	})
	if err := p.absent(t.Context(), ns, again); err != nil {
		t.Errorf("the Job of a complete model is made again: %v", err)
	}
	cluster.Eventually(t, "the object to stay ready", p.holds(ns, api, "ModelDownload", "shared", "Ready"))
	t.Logf("event budget: %s", p.budgets.counter.Report(ns+"/shared"))
}

// absent returns an error unless there is no Job of the name.
func (ob *objects) absent(ctx context.Context, ns, name string) error {
	job, err := ob.get(ctx, ns, "batch/v1", "Job", name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("job %q of %s exists, deleted at %v: %v", name, job.GetCreationTimestamp(), job.GetDeletionTimestamp(), job.Object["status"])
}

// composesNo returns an error if the ModelDownload refers to an object of the name.
func (ob *objects) composesNo(ctx context.Context, ns, name string) error {
	d, err := ob.get(ctx, ns, api, "ModelDownload", "shared")
	if err != nil {
		return err
	}
	refs, _, err := unstructured.NestedSlice(d.Object, "spec", "crossplane", "resourceRefs")
	for _, ref := range refs {
		if r, _ := ref.(map[string]any); r["name"] == name {
			return fmt.Errorf("%v is composed", r)
		}
	}
	return err
}

// downloaded applies the ModelDownload, waits until it is complete by another Job
// than before, and returns the name of the Job.
func (p *suite) downloaded(t *testing.T, ns, before string, reload bool) string {
	t.Helper()
	if err := p.ApplyIn(t.Context(), ns, fmt.Sprintf(shared, reload)); err != nil {
		t.Fatal(err)
	}
	name := ""
	cluster.Eventually(t, "the download to be complete", func(ctx context.Context) error {
		d, err := p.get(ctx, ns, api, "ModelDownload", "shared")
		if err != nil {
			return err
		}
		models, _, _ := unstructured.NestedSlice(d.Object, "status", "models")
		if len(models) != 1 {
			return fmt.Errorf("models are %v", models)
		}
		m := models[0].(map[string]any)
		if name, _ = m["jobName"].(string); m["phase"] != "Completed" || name == before || m["completedAt"] == nil {
			return fmt.Errorf("the model is %v", m)
		}
		return nil
	})
	cluster.Eventually(t, "the object to be ready", p.holds(ns, api, "ModelDownload", "shared", "Ready"))
	return name
}
