package dllama

import (
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/names"
)

// watch watches the pods, and the nodes for those that will exist: while the Model is
// downloaded, it is known already what they request.
func (p *dllamaPlan) watch() (err error) {
	if p.scaled() {
		return nil // each Dllama of the pool does
	}
	root := p.rootPod()
	planned := []v1alpha1.PlannedPods{root.Planned("root", 1)}
	if n := p.workerCount(); n > 0 {
		planned = append(planned, p.workerPod().Planned("worker", n))
	}
	p.pods, err = managed.WatchPods(p.Call, p.d.Namespace, names.Object(p.d.Name, "dllama", "pods"), v1alpha1.WorkloadStatusParameters{
		Selector: workload.Owner("dllama", p.d.Name), ProgressPort: progressPort(root), Planned: planned,
	})
	return err
}

// progressPort is the port on which a root serves its progress; empty if the engine
// says nothing of it.
func progressPort(root workload.Pod) string {
	if _, has := root.Ports[engine.PortHealth]; !has {
		return ""
	}
	return engine.PortHealth
}
