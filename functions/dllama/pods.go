package dllama

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/enginepod"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
)

func (p *dllamaPlan) rootPod() workload.Pod {
	s := p.Spec.Runtime
	r := enginepod.Root{
		Engine:    p.engine,
		Placement: p.placement("root"),
		Spec: engine.Root{
			Node:          p.node(p.engine.ImageFor(p.Image, s.RootImage, s.WorkerImage), s.RootResources),
			ModelFile:     p.modelFile(),
			TokenizerFile: p.artifact.TokenizerFile,
			Buffers:       string(p.buffers),
			SeqLen:        p.seqLen(),
			Leader:        p.leader(),
			Nodes:         int(p.status.Nodes),
		},
		Session:   p.session(),
		Model:     p.Namespace + "/" + p.served(),
		Member:    p.group(), // always, so that a claim that gets traffic later restarts nothing
		BusSecret: p.busSecret(),
		Login:     p.logins.Runner(),
		Timeouts:  s.AnswerTimeouts,
	}
	r.Resources = p.resources(s.RootResources, p.status.RootMemoryBytes)
	r.Files = p.files()
	if server := s.Engine.Server; server != nil {
		r.APIKey = server.APIKeySecretRef
	}
	if p.asks() {
		r.APIKey = &v1.SecretKeyReference{Name: p.tokenSecret(), Key: "token"}
	}
	if n := p.workerCount(); n > 0 {
		r.Spec.Workers = enginepod.Addresses(p.Namespace, p.workersName(), n, engine.EngineNumber)
		r.Spec.WaitFor = enginepod.Addresses(p.Namespace, p.workersName(), n, engine.HealthNumber)
	}
	return r.Pod()
}

func (p *dllamaPlan) workerPod() workload.Pod {
	s := p.Spec.Runtime
	w := enginepod.Worker{
		Engine:    p.engine,
		Placement: p.placement("worker"),
		Spec: engine.Worker{
			Node:      p.node(p.engine.ImageFor(p.Image, s.WorkerImage, s.RootImage), s.WorkerResources),
			ModelFile: p.modelFile(),
			SeqLen:    p.seqLen(),
			Leader:    p.leader(),
			Nodes:     int(p.status.Nodes),
		},
		Timeouts: s.AnswerTimeouts,
	}
	if p.engine.Reads == engine.FilesSource {
		w.Files = p.files() // each node reads its part
	}
	w.Resources = p.resources(s.WorkerResources, p.status.WorkerMemoryBytes)
	return w.Pod()
}

func (p *dllamaPlan) workerCount() int32 { return p.status.Nodes - 1 }

// files are those of the artifact.
func (p *dllamaPlan) files() enginepod.Files {
	if p.delivery == deliveryFetch {
		return enginepod.Files{Fetch: p.artifact.URL, FetchSecret: p.storeSecret(), FetchKeys: p.storeKeys}
	}
	return enginepod.Files{Claim: p.artifact.ClaimName}
}

// leader is the host name of the root.
func (p *dllamaPlan) leader() string {
	host, _, _ := strings.Cut(enginepod.Addresses(p.Namespace, p.rootName(), 1, engine.EngineNumber)[0], ":")
	return host
}

func (p *dllamaPlan) node(image string, r *corev1.ResourceRequirements) engine.Node {
	e := p.Spec.Engine
	return engine.Node{
		Model:     p.Namespace + "/" + p.model().Name,
		ModelSize: p.artifact.SizeBytes,
		GPUs:      gpus(r),
		Image:     image,
		Koldun:    p.Image,
		Threads:   p.Threads(p.threads(), int(p.status.Nodes)),
		NetTurbo:  p.netTurbo(),
		GPUIndex:  e.GPUIndex,
		ExtraArgs: e.ExtraArgs,
	}
}

func (p *dllamaPlan) placement(component string) enginepod.Placement {
	s := p.Spec.Runtime
	out := enginepod.Placement{
		Env:         workload.EnvOf(s.Env, s.EnvFrom),
		PullPolicy:  s.ImagePullPolicy,
		Scheduling:  s.Scheduling,
		Labels:      workload.Labels(component, "dllama", p.Name),
		Group:       workload.Owner("dllama", p.Name),
		Annotations: map[string]string{v1.AnnotationMemoryPlan: p.memoryPlan()},
	}
	if p.engine.Memory == nil {
		out.Annotations = map[string]string{}
	}
	if s := p.Spec.Engine.Server; s != nil {
		out.EngineEnv, out.Cache = workload.Vars(s.Env), workload.CacheSource(s.Cache)
	}
	if session := p.Labels[v1.LabelSession]; session != "" {
		out.Marks = map[string]string{v1.LabelSession: session}
	}
	return out
}

func (p *dllamaPlan) memoryPlan() string {
	return fmt.Sprintf("model=%s nodes=%d root=%d worker=%d", p.artifact.ModelFile, p.status.Nodes, p.status.RootMemoryBytes, p.status.WorkerMemoryBytes)
}
