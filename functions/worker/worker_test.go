package worker_test

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/worker"
)

const meta = "apiVersion: koldun.gorizond.io/v1\nkind: Worker\nmetadata: {name: w, namespace: ns, generation: 3}\n"

func TestWorker(t *testing.T) {
	composetest.Table(t, worker.Compose, map[string]composetest.Case{
		"One":     {Composite: meta + "spec: {image: dllama}", Reason: reason.WorkersStarting, Says: "its 1 workers"},
		"NoImage": {Composite: meta + "spec: {}", Reason: reason.WorkersStarting},
		"Several": {
			Composite: meta + "spec: {image: dllama, replicas: 3, nThreads: 8, args: [--a, b], rootRef: r, rootCIDRs: [10.0.0.0/8], imagePullPolicy: Never, resources: {limits: {memory: 1Gi}}, scheduling: {nodeSelector: {a: b}}}",
			Observed:  map[string]string{"workers": "status: {readyReplicas: 2}"}, Reason: reason.WorkersStarting, Says: "3 workers",
		},
		"Grace":         {Composite: meta + "spec: {image: dllama, answerGrace: 10m}", Reason: reason.WorkersStarting},
		"AllReady":      {Composite: meta + "spec: {image: dllama, replicas: 2}", Observed: map[string]string{"workers": "status: {readyReplicas: 2}"}, Reason: reason.Available, Says: "2 workers"},
		"MoreThanAsked": {Composite: meta + "spec: {image: dllama, replicas: 1}", Observed: map[string]string{"workers": "status: {readyReplicas: 2}"}, Reason: reason.Available},
		"OldGeneration": {Composite: meta + "spec: {image: dllama, replicas: 2}", Observed: map[string]string{"workers": "metadata: {generation: 2}\nstatus: {readyReplicas: 2, observedGeneration: 1}"}, Reason: reason.WorkersStarting},
		"None":          {Composite: meta + "spec: {image: dllama, replicas: 0}", Reason: reason.Idle},
		"Legacy":        {Composite: meta + "spec: {image: dllama, modelRef: m, slot: 1, cacheSpec: {bucket: b}, nats: {url: 'nats://h'}}", Reason: reason.WorkersStarting},
	})
}

// TestWorkersShareCores holds that workers and their root share the cores of a machine
// that runs them all.
func TestWorkersShareCores(t *testing.T) {
	onOneMachine := func(c *compose.Call) error {
		c.Cores = 8
		return worker.Compose(c)
	}
	rsp := composetest.Run(t, onOneMachine, composetest.Case{Composite: meta + "spec: {image: dllama, replicas: 3, nThreads: 8}"})
	var set appsv1.StatefulSet
	raw, err := rsp.GetDesired().GetResources()["workers"].GetResource().MarshalJSON()
	if err == nil {
		err = json.Unmarshal(raw, &set)
	}
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Join(set.Spec.Template.Spec.Containers[0].Args, " ")
	if !strings.Contains(args, "--nthreads 2 ") {
		t.Errorf("a worker of three runs with %q, want 2 of 8 threads", args)
	}
}

func TestWorkerWithoutNamespaceIsRefused(t *testing.T) {
	composetest.Refuses(t, worker.Compose, "apiVersion: koldun.gorizond.io/v1\nkind: Worker\nmetadata: {name: w}\nspec: {image: i}")
}
