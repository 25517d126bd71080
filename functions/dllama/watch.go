package dllama

import (
	"slices"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/names"
)

// watch watches the pods, and the nodes for those that will exist: while the Model is
// downloaded, it is known already what they request. For pods that any node can hold it
// waits until they are composed: their Model is there in seconds, in which each further
// object takes of Crossplane's budget of events.
func (d *dllama) watch(pods podBuilder, waits bool) (managed.Pods, error) {
	root := pods.root()
	planned := []v1alpha1.PlannedPods{root.Planned("root", 1)}
	if n := pods.workers(); n > 0 {
		planned = append(planned, pods.worker().Planned("worker", n))
	}
	if waits && !slices.ContainsFunc(planned, workload.Selective) {
		return managed.Pods{}, nil
	}
	return managed.WatchPods(d.Call, d.Namespace, names.Object(d.Name, "dllama", "pods"), v1alpha1.WorkloadStatusParameters{
		Selector: workload.Owner("dllama", d.Name), ProgressPort: progressPort(root), Planned: planned,
	})
}

// progressPort is the port on which a root serves its progress; empty if the engine
// says nothing of it.
func progressPort(root workload.Pod) string {
	if _, has := root.Ports[engine.PortHealth]; !has {
		return ""
	}
	return engine.PortHealth
}
