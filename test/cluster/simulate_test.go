package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/simulate"
)

func allowed(review func() bool) func(context.Context) error {
	return func(context.Context) error {
		if !review() {
			return errors.New("it is not allowed")
		}
		return nil
	}
}

const workloads = `
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: ring
spec:
  replicas: 3
  serviceName: ring
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: ring}}
  template:
    metadata: {labels: {app: ring}}
    spec: {containers: [{name: worker, image: koldun:test}]}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: works
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: job, image: koldun:test}]}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: fails
spec:
  backoffLimit: 3
  podFailurePolicy:
    rules: [{action: FailJob, onExitCodes: {operator: In, values: [12]}}]
  template:
    spec: {restartPolicy: Never, containers: [{name: job, image: koldun:test}]}
`

// The real controllers compute the status of workloads from simulated pods.
func TestWorkloadStatusFollowsPods(t *testing.T) {
	c := shared.Cluster(t)
	ctx := t.Context()
	var stuck atomic.Bool
	stuck.Store(true)
	simulate.Start(t, c.Config(), simulate.Kubelet{Behavior: func(p *corev1.Pod) simulate.Behavior {
		if p.Name == "ring-2" && stuck.Load() {
			return simulate.Waiting("ImagePullBackOff", "there is no such image")
		}
		if p.Labels["job-name"] == "fails" {
			return simulate.Exit(12)
		}
		return simulate.Run()
	}})
	ns := c.Namespace(t)
	if err := c.ApplyIn(ctx, ns, workloads); err != nil {
		t.Fatal(err)
	}
	readyPods := func(want int32) func(context.Context) error {
		return func(ctx context.Context) error {
			var s appsv1.StatefulSet
			if err := c.Client().Get(ctx, client.ObjectKey{Namespace: ns, Name: "ring"}, &s); err != nil {
				return err
			}
			if s.Status.ReadyReplicas != want {
				return fmt.Errorf("%d of them are ready, want %d", s.Status.ReadyReplicas, want)
			}
			return nil
		}
	}
	cluster.Eventually(t, "pods without the one that cannot start", readyPods(2))
	stuck.Store(false)
	cluster.Eventually(t, "all pods", readyPods(3))

	job := func(name string) *batchv1.Job {
		var j batchv1.Job
		cluster.Eventually(t, "Job "+name+" to end", func(ctx context.Context) error {
			if err := c.Client().Get(ctx, client.ObjectKey{Namespace: ns, Name: name}, &j); err != nil {
				return err
			}
			if j.Status.Active > 0 || j.Status.Succeeded+j.Status.Failed == 0 {
				return fmt.Errorf("its status is %+v", j.Status)
			}
			return nil
		})
		return &j
	}
	if j := job("works"); j.Status.Succeeded != 1 {
		t.Errorf("successful Job: %+v", j.Status)
	}
	if j := job("fails"); j.Status.Failed != 1 {
		t.Errorf("Job with a permanent exit status: %+v", j.Status)
	}

	if err := c.Delete(ctx, ns, workloads); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "pods to be gone", func(ctx context.Context) error {
		var pods corev1.PodList
		if err := c.Client().List(ctx, &pods, client.InNamespace(ns)); err != nil {
			return err
		}
		if n := len(pods.Items); n > 0 {
			return fmt.Errorf("%d pods remain", n)
		}
		return nil
	})
}
