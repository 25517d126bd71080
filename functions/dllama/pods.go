package dllama

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/enginepod"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
)

// A podBuilder builds the pods of a plan.
type podBuilder struct {
	nodePlan
	compose.Config
	more  additions
	files enginepod.Files
	login workload.Login // of the sidecar
}

func (b podBuilder) root() workload.Pod {
	s := b.Spec.Runtime
	r := enginepod.Root{
		Engine:    b.engine,
		Placement: b.placement("root"),
		Spec: engine.Root{
			Node:          b.node(b.engine.ImageFor(b.Image, s.RootImage, s.WorkerImage), s.RootResources),
			ModelFile:     b.file,
			TokenizerFile: b.artifact.TokenizerFile,
			Buffers:       string(b.buffers),
			SeqLen:        b.seqLen,
			Leader:        b.leader(),
			Nodes:         int(b.nodes),
		},
		Session:   b.session(),
		Model:     b.Namespace + "/" + b.served(),
		Member:    b.member(b.Name), // always, so that a claim that gets traffic later restarts nothing
		BusSecret: b.busSecret(),
		Login:     b.login,
		APIKey:    b.more.apiKey,
		Timeouts:  s.AnswerTimeouts,
	}
	r.Resources = b.resources(s.RootResources, b.rootMemory)
	r.Files = b.files
	if n := b.workers(); n > 0 {
		r.Spec.Workers = enginepod.Addresses(b.Namespace, b.workersName(), n, engine.EngineNumber)
		r.Spec.WaitFor = enginepod.Addresses(b.Namespace, b.workersName(), n, engine.HealthNumber)
	}
	return r.Pod()
}

func (b podBuilder) worker() workload.Pod {
	s := b.Spec.Runtime
	w := enginepod.Worker{
		Engine:    b.engine,
		Placement: b.placement("worker"),
		Spec: engine.Worker{
			Node:      b.node(b.engine.ImageFor(b.Image, s.WorkerImage, s.RootImage), s.WorkerResources),
			ModelFile: b.file,
			SeqLen:    b.seqLen,
			Leader:    b.leader(),
			Nodes:     int(b.nodes),
		},
		Timeouts: s.AnswerTimeouts,
	}
	if b.engine.Reads == engine.FilesSource {
		w.Files = b.files // each node reads its part
	}
	w.Resources = b.resources(s.WorkerResources, b.workerMemory)
	return w.Pod()
}

// leader is the host name of the root.
func (b podBuilder) leader() string {
	host, _, _ := strings.Cut(enginepod.Addresses(b.Namespace, b.rootName(), 1, engine.EngineNumber)[0], ":")
	return host
}

func (b podBuilder) node(image string, r *corev1.ResourceRequirements) engine.Node {
	e := b.Spec.Engine
	return engine.Node{
		Model:     b.Namespace + "/" + b.model().Name,
		ModelSize: b.artifact.SizeBytes,
		GPUs:      gpus(r),
		Image:     image,
		Koldun:    b.Image,
		Threads:   b.Threads(b.threads(), int(b.nodes)),
		NetTurbo:  b.netTurbo(),
		GPUIndex:  e.GPUIndex,
		ExtraArgs: e.ExtraArgs,
	}
}

func (b podBuilder) placement(component string) enginepod.Placement {
	s := b.Spec.Runtime
	out := enginepod.Placement{
		Env:         workload.EnvOf(s.Env, s.EnvFrom),
		EngineEnv:   b.more.env,
		Cache:       b.more.cache,
		PullPolicy:  s.ImagePullPolicy,
		Scheduling:  s.Scheduling,
		Labels:      workload.Labels(component, "dllama", b.Name),
		Group:       workload.Owner("dllama", b.Name),
		Annotations: map[string]string{},
	}
	if b.engine.Memory != nil {
		out.Annotations[v1.AnnotationMemoryPlan] = b.annotation()
	}
	if session := b.Labels[v1.LabelSession]; session != "" {
		out.Marks = map[string]string{v1.LabelSession: session}
	}
	return out
}
