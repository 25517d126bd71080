package dllama

import (
	"cmp"
	"fmt"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/enginepod"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/names"
)

func (p *dllamaPlan) rootPod() workload.Pod {
	s := p.d.Spec.Runtime
	r := enginepod.Root{
		Engine:    p.engine,
		Placement: p.placement("root"),
		Spec: engine.Root{
			Node:          p.node(cmp.Or(s.RootImage, s.WorkerImage, p.Image)),
			ModelFile:     p.artifact.ModelFile,
			TokenizerFile: p.artifact.TokenizerFile,
			Buffers:       string(p.buffers),
			SeqLen:        p.seqLen(),
		},
		Session:   p.session(),
		Model:     p.d.Namespace + "/" + p.modelName,
		BusSecret: p.busSecret(),
	}
	r.Resources = p.resources(s.RootResources, p.status.RootMemoryBytes)
	if p.delivery == deliveryFetch {
		r.Fetch, r.FetchSecret = p.artifact.URL, p.storeSecret()
	} else {
		r.Claim = p.artifact.ClaimName
	}
	if n := p.workerCount(); n > 0 {
		r.Spec.Workers = enginepod.Addresses(p.d.Namespace, p.workersName(), n, engine.EngineNumber)
		r.Spec.WaitFor = enginepod.Addresses(p.d.Namespace, p.workersName(), n, engine.HealthNumber)
	}
	return r.Pod()
}

func (p *dllamaPlan) workerPod() workload.Pod {
	s := p.d.Spec.Runtime
	w := enginepod.Worker{
		Engine:    p.engine,
		Placement: p.placement("worker"),
		Spec:      engine.Worker{Node: p.node(cmp.Or(s.WorkerImage, s.RootImage, p.Image))},
	}
	w.Resources = p.resources(s.WorkerResources, p.status.WorkerMemoryBytes)
	return w.Pod()
}

func (p *dllamaPlan) workerCount() int32 { return p.status.Nodes - 1 }

func (p *dllamaPlan) node(image string) engine.Node {
	e := p.d.Spec.Engine
	return engine.Node{
		Image:     image,
		Koldun:    p.Image,
		Threads:   p.threads(),
		NetTurbo:  p.netTurbo(),
		GPUIndex:  e.GPUIndex,
		ExtraArgs: e.ExtraArgs,
	}
}

func (p *dllamaPlan) placement(component string) enginepod.Placement {
	s := p.d.Spec.Runtime
	out := enginepod.Placement{
		PullPolicy:  s.ImagePullPolicy,
		Scheduling:  s.Scheduling,
		Labels:      workload.Labels(component, "dllama", p.d.Name),
		Group:       workload.Owner("dllama", p.d.Name),
		Annotations: map[string]string{v1.AnnotationMemoryPlan: p.memoryPlan()},
	}
	if session := p.d.Labels[v1.LabelSession]; session != "" {
		out.Marks = map[string]string{v1.LabelSession: session}
	}
	return out
}

func (p *dllamaPlan) memoryPlan() string {
	return fmt.Sprintf("model=%s nodes=%d root=%d worker=%d", p.artifact.ModelFile, p.status.Nodes, p.status.RootMemoryBytes, p.status.WorkerMemoryBytes)
}

// session is the pool that the root belongs to: the one that its Session
// names, else the one that all requests for the model share. It is always a
// pool of the Dllama's own namespace: a root in the pool of another one would
// read the prompts there.
func (p *dllamaPlan) session() string {
	shared := names.Session(p.d.Namespace, p.modelName, "")
	if key := p.d.Annotations[v1.AnnotationSessionKey]; names.SessionOf(key, shared) {
		return key
	}
	return shared
}
