package dllama

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/engine"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/topology"
)

// maxSeqLen is the longest context unless the claim says otherwise: memory for
// all of it is taken at the start, and a model's own may be 131,072.
const maxSeqLen = 4096

// slack is memory for the program, its supervisor and its threads, in bytes.
const slack = 64 << 20

// preflight refuses what cannot run before anything is started.
func (p *plan) preflight() (blocked bool) {
	if p.status.Nodes > 1 && p.engine() == engine.Embedded {
		p.fail(reason.TopologyInvalid, "%s: the embedded engine runs on 1 node, not on %d: use 0, or name an image of distributed-llama in spec.rootImage", p.nodesField(), p.status.Nodes)
		return true
	}
	sync, err := topology.SyncFor(topology.FloatType(p.artifact.Weights))
	if err != nil {
		p.fail(reason.TopologyInvalid, "Model %q: %v", p.modelName, err)
		return true
	}
	if asked := p.bufferType(); asked != "" && topology.FloatType(asked) != sync {
		p.fail(reason.TopologyInvalid, "spec.engine.bufferFloatType: weights of type %s run only with buffers of type %s, not %s", p.artifact.Weights, sync, asked)
		return true
	}
	p.buffers = sync
	p.status.MaxSeqLen = p.seqLen()
	if p.artifact.Shape == nil {
		return false
	}
	plan, err := shape(&p.artifact.Artifact).Preflight(topology.Request{Nodes: int(p.status.Nodes), SeqLen: int(p.seqLen())})
	if err != nil {
		p.fail(reason.TopologyInvalid, "%s: %v", p.nodesField(), err)
		return true
	}
	p.memory = &plan
	p.status.RootMemoryBytes = p.widened(plan.Root().Total())
	if plan.Nodes > 1 {
		p.status.WorkerMemoryBytes = plan.Worker().Total()
	}
	return false
}

func (p *plan) nodesField() string {
	if p.d.Spec.Nodes != nil {
		return "spec.nodes"
	}
	return "spec.replicaPower"
}

// engine is distributed-llama if somebody names an image that has it.
func (p *plan) engine() string {
	r := p.d.Spec.Runtime
	switch {
	case r.Engine.Type != "":
		return r.Engine.Type
	case r.RootImage != "" || r.WorkerImage != "":
		return engine.DistributedLlama
	}
	return engine.Embedded
}

func (p *plan) bufferType() string {
	if t := p.d.Spec.Engine.BufferFloatType; t != "" {
		return t
	}
	return workload.Option(p.artifact.LaunchOptions, "--buffer-float-type")
}

func (p *plan) seqLen() int32 {
	if n := p.d.Spec.Engine.MaxSeqLen; n > 0 {
		return n
	}
	if n, err := strconv.ParseInt(workload.Option(p.artifact.LaunchOptions, "--max-seq-len"), 10, 32); err == nil && n >= 32 {
		return int32(n)
	}
	if s := p.artifact.Shape; s != nil && s.SeqLen < maxSeqLen {
		return int32(s.SeqLen)
	}
	return maxSeqLen
}

func (p *plan) threads() int32 {
	n := max(p.d.Spec.Engine.Threads, 1)
	if own, err := strconv.ParseInt(workload.Option(p.artifact.LaunchOptions, "--nthreads"), 10, 32); err == nil && own > 0 && own <= 512 && n == 1 {
		return int32(own)
	}
	return n
}

func (p *plan) widened(bytes int64) int64 {
	if m := p.d.Spec.RootMemory; m != nil && m.OverheadMaxRatio > 1 {
		return int64(float64(bytes) * m.OverheadMaxRatio)
	}
	return bytes
}

// resources are what people say, and else memory by the plan: what the engine
// allocates, the largest slice once more while it is loaded, and slack. The
// plan is distributed-llama's, so only there it is a limit too.
func (p *plan) resources(said *corev1.ResourceRequirements, plan int64) corev1.ResourceRequirements {
	var out corev1.ResourceRequirements
	if said != nil {
		out = *said.DeepCopy()
	}
	_, requested := out.Requests[corev1.ResourceMemory]
	_, limited := out.Limits[corev1.ResourceMemory]
	if plan == 0 || requested || limited {
		return out
	}
	s := shape(&p.artifact.Artifact)
	slice := s.Weights.Bytes(int64(s.Dim) * int64(max(s.FFDim(), s.VocabSize)) / int64(p.status.Nodes))
	need := mebibytes(plan + slice + slack)
	if out.Requests == nil {
		out.Requests = corev1.ResourceList{}
	}
	out.Requests[corev1.ResourceMemory] = need
	if p.engine() == engine.DistributedLlama {
		if out.Limits == nil {
			out.Limits = corev1.ResourceList{}
		}
		out.Limits[corev1.ResourceMemory] = need
	}
	return out
}

// mebibytes rounds up, so that the quantity is short and canonical.
func mebibytes(bytes int64) resource.Quantity {
	return resource.MustParse(fmt.Sprintf("%dMi", (bytes+1<<20-1)>>20))
}

// turbo polls sockets without pause, which needs CPUs of one's own on every
// node.
func (p *plan) turbo() bool {
	if t := p.d.Spec.Engine.NetTurbo; t != nil {
		return *t
	}
	return whole(p.d.Spec.RootResources) && (p.status.Nodes == 1 || whole(p.d.Spec.WorkerResources))
}

// whole reports whether whole CPUs are requested, and no more allowed.
func whole(r *corev1.ResourceRequirements) bool {
	if r == nil {
		return false
	}
	limit := r.Limits.Cpu()
	request, ok := r.Requests[corev1.ResourceCPU]
	if !ok {
		request = *limit
	}
	return !limit.IsZero() && limit.MilliValue()%1000 == 0 && request.Cmp(*limit) == 0
}

func (p *plan) memoryPlan() string {
	return fmt.Sprintf("model=%s nodes=%d root=%d worker=%d", p.artifact.ModelFile, p.status.Nodes, p.status.RootMemoryBytes, p.status.WorkerMemoryBytes)
}

func shape(a *v1.Artifact) topology.Shape {
	s := a.Shape
	return topology.Shape{
		Arch: topology.Arch(s.Arch), Dim: s.Dim, HiddenDim: s.HiddenDim, Layers: s.Layers, Heads: s.Heads, KVHeads: s.KVHeads,
		HeadDim: s.HeadDim, VocabSize: s.VocabSize, SeqLen: s.SeqLen, Experts: s.Experts, ActiveExperts: s.ActiveExperts,
		MoEHiddenDim: s.MoEHiddenDim, Weights: topology.FloatType(s.Weights),
	}
}
