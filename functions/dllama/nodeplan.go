package dllama

import (
	"cmp"
	"fmt"
	"strconv"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/preflight"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/model/topology"
)

// A nodePlan says how the nodes of a Dllama run its model.
type nodePlan struct {
	claim
	engine   engine.Engine
	artifact *v1.ServedArtifact
	file     string // path in the model's files that the engine loads; empty is all of them
	nodes    int32

	buffers topology.FloatType // of the values that nodes exchange; empty is not known yet
	seqLen  int32              // 0 is the server's own
	// Bytes that each node allocates; 0 is not known yet.
	rootMemory, workerMemory int64
}

// planNodes plans the nodes, and says why the engine cannot run the model so, before
// anything starts. Of a Model without files, its config.json may say enough.
func planNodes(c claim, up upstream, files modelFiles, nodes int32) (p nodePlan, problem string) {
	p = nodePlan{claim: c, artifact: files.ServedArtifact, file: files.ModelFile, nodes: nodes}
	if p.engine, problem = up.engineOn(nodes); problem != "" {
		return p, problem
	}
	if problem = requestAboveLimit(c.Spec.Runtime); problem != "" {
		return p, problem
	}
	p.file = cmp.Or(up.additions().file, p.file)
	// Only converted files have a type of weights, once it is known.
	if problem = p.checkFiles(files.Weights != "" || files.waits.Any()); problem != "" {
		return p, problem
	}
	if p.buffers, problem = p.planBuffers(); problem != "" {
		return p, problem
	}
	p.seqLen = p.planSeqLen()
	p.rootMemory, p.workerMemory, problem = p.planMemory()
	return p, problem
}

// checkFiles says why the engine cannot load the files of the Model; empty if it can.
func (p nodePlan) checkFiles(converted bool) (problem string) {
	name := p.model().Name
	switch reads := p.engine.Reads; {
	case reads == engine.FilesSource && converted:
		return fmt.Sprintf("Model %q is converted, and the %s engine loads source files: give the Model spec.conversion.type None", name, p.engine.Name)
	case reads == engine.FilesConverted && !converted:
		return fmt.Sprintf("Model %q is not converted, and the %s engine loads converted files: leave out the Model's spec.conversion.type", name, p.engine.Name)
	case gpus(p.Spec.RootResources) != gpus(p.Spec.WorkerResources) && p.engine.Grouped && p.nodes > 1:
		return "spec.workerResources: all nodes of a server need the same number of GPUs: give it that of spec.rootResources"
	case p.engine.Unfit != nil:
		if problem := p.engine.Unfit(p.file); problem != "" {
			return fmt.Sprintf("Model %q: %s", name, problem)
		}
	}
	return ""
}

// planBuffers finds the type of the values that nodes exchange.
func (p nodePlan) planBuffers() (buffers topology.FloatType, problem string) {
	if p.engine.Memory == nil || p.artifact.Weights == "" {
		return "", ""
	}
	buffers, err := p.engine.Memory.Buffers(topology.FloatType(p.artifact.Weights))
	if err != nil {
		return "", fmt.Sprintf("Model %q: %v", p.model().Name, err)
	}
	if asked := p.bufferType(); asked != "" && topology.FloatType(asked) != buffers {
		return "", fmt.Sprintf("spec.engine.bufferFloatType: weights of type %s run only with buffers of type %s, not %s", p.artifact.Weights, buffers, asked)
	}
	return buffers, ""
}

// planMemory plans the bytes of each node, if the model's header is known. Before that the
// size of the files may say enough.
func (p nodePlan) planMemory() (root, worker int64, problem string) {
	if p.engine.Memory == nil || p.artifact.Shape == nil {
		return 0, 0, p.runtime(0).TooSmall(p.artifact.SizeBytes)
	}
	plan, problem := p.runtime(int(p.seqLen)).Plan(preflight.Shape(*p.artifact.Shape))
	if problem != "" {
		return 0, 0, problem
	}
	root = plan.Root().Total()
	if m := p.Spec.RootMemory; m != nil && m.OverheadMaxRatio > 1 {
		root = int64(float64(root) * m.OverheadMaxRatio)
	}
	if plan.Nodes > 1 {
		worker = plan.Worker().Total()
	}
	return root, worker, ""
}

// runtime is how the engine is to run the model, with a context of that length.
func (p nodePlan) runtime(seqLen int) preflight.Runtime {
	field, _ := p.nodesField()
	e := p.Spec.Engine
	return preflight.Runtime{
		Engine: p.engine.Name, Nodes: int(p.nodes), SeqLen: seqLen, Slots: int(e.Slots), Buffers: e.BufferFloatType, Field: field,
		RootMemory: memoryLimit(p.Spec.RootResources), WorkerMemory: memoryLimit(p.Spec.WorkerResources),
	}
}

// bufferType is the type of buffers that the claim or its Model names; empty if neither does.
func (p nodePlan) bufferType() string {
	return cmp.Or(p.Spec.Engine.BufferFloatType, p.launchOption("--buffer-float-type"))
}

// planSeqLen is the longest context.
func (p nodePlan) planSeqLen() int32 {
	api := p.engine.API
	if api != nil && !api.Context {
		return 0
	}
	if n := p.askedSeqLen(); n > 0 {
		return int32(n)
	}
	if api != nil {
		return 0 // the server's own
	}
	if s := p.artifact.Shape; s != nil && s.SeqLen < topology.DefaultSeqLen {
		return int32(s.SeqLen)
	}
	return topology.DefaultSeqLen
}

// askedSeqLen is the longest context that the claim or its Model names; 0 if neither does.
func (p nodePlan) askedSeqLen() int {
	if n := p.Spec.Engine.MaxSeqLen; n > 0 {
		return int(n)
	}
	if n, err := strconv.ParseInt(p.launchOption("--max-seq-len"), 10, 32); err == nil && n >= topology.MinSeqLen {
		return int(n)
	}
	return 0
}

func (p nodePlan) threads() int32 {
	n := max(p.Spec.Engine.Threads, 1)
	if own, err := strconv.ParseInt(p.launchOption("--nthreads"), 10, 32); err == nil && own > 0 && own <= 512 && n == 1 {
		return int32(own)
	}
	return n
}

// launchOption is the value of an option in the Model's launchOptions.
func (p nodePlan) launchOption(name string) string {
	return workload.Option(p.artifact.LaunchOptions, name)
}

func (p nodePlan) workers() int32 { return p.nodes - 1 }

// annotation describes the plan on the pods of an engine that plans its memory.
func (p nodePlan) annotation() string {
	return fmt.Sprintf("model=%s nodes=%d root=%d worker=%d", p.artifact.ModelFile, p.nodes, p.rootMemory, p.workerMemory)
}
