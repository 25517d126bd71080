package dllama

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/preflight"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/catalog"
	"github.com/gorizond/koldun/internal/model/topology"
)

// preflight chooses the engine, and refuses what it cannot run before anything
// starts. Of a Model without files, its config.json may say enough.
func (p *dllamaPlan) preflight() (compose.Next, error) {
	if p.refused {
		return p.keepRunning(), nil
	}
	status := p.status
	if problem := p.unfit(); problem != "" {
		p.Fail(reason.TopologyInvalid, "%s", problem)
		return p.keepRunning(), nil
	}
	p.compareRequests()
	if err := p.watch(); err != nil {
		return compose.Stop, err
	}
	if p.waits != "" {
		p.status = status // each change of it is an event for everything above
		if p.waits == reason.ModelPending && p.pods.Reason != "" {
			p.Fail(p.pods.Reason, "%s", p.pods.Message)
		} else {
			p.Fail(p.waits, "%s", p.waitsFor)
		}
		return compose.Stop, nil
	}
	return compose.Continue, nil
}

// unfit says why the engine cannot run the model so; empty if it can.
func (p *dllamaPlan) unfit() string {
	if problem := p.chooseEngine(p.status.Nodes); problem != "" {
		return problem
	}
	if problem := p.checkRequests(); problem != "" {
		return problem
	}
	if problem := p.checkFiles(); problem != "" {
		return problem
	}
	if problem := p.checkBuffers(); problem != "" {
		return problem
	}
	p.status.MaxSeqLen = p.seqLen()
	return p.planMemory()
}

// chooseEngine chooses the engine of a claim without a server, and says why it does
// not run on that many nodes; empty if it does.
func (p *dllamaPlan) chooseEngine(nodes int32) (problem string) {
	r := p.Spec.Runtime
	if r.Engine.Server == nil && !p.asks() {
		chosen, err := catalog.Choose(catalog.Claim{
			Engine: string(r.Engine.Type), Nodes: int(nodes), Koldun: p.Image, Images: []string{r.RootImage, r.WorkerImage},
		})
		if err != nil {
			return fmt.Sprintf("spec.engine.type: %v", err)
		}
		if chosen.Configured != nil {
			return fmt.Sprintf("spec.engine.server: the %s engine needs it", chosen.Name)
		}
		p.engine = chosen
	}
	slots := int(r.Engine.Slots)
	if p.asks() {
		slots = 0 // the gateway has them already
	}
	var err error
	if p.engine, err = p.engine.WithSlots(slots); err != nil {
		return fmt.Sprintf("spec.engine.slots: %v", err)
	}
	if err := p.engine.CheckNodes(int(nodes)); err != nil {
		field, one := p.nodesField()
		return fmt.Sprintf("%s: %v: use %d, or %s", field, err, one, p.moreNodes())
	}
	return ""
}

// moreNodes says what a claim has to name for more nodes than its engine runs on.
func (p *dllamaPlan) moreNodes() string {
	if api := p.engine.API; api != nil {
		return "a server of profile " + api.Spreading + " in the pods"
	}
	return "spec.engine.type " + catalog.Spreading()
}

// checkFiles says why the engine cannot load the files of the Model; empty if it
// can. Only converted files have a type of weights, once it is known.
func (p *dllamaPlan) checkFiles() (problem string) {
	converted := p.artifact.Weights != "" || p.waits != ""
	switch reads := p.engine.Reads; {
	case reads == engine.FilesSource && converted:
		return fmt.Sprintf("Model %q is converted, and the %s engine loads source files: give the Model spec.conversion.type None", p.model().Name, p.engine.Name)
	case reads == engine.FilesConverted && !converted:
		return fmt.Sprintf("Model %q is not converted, and the %s engine loads converted files: leave out the Model's spec.conversion.type", p.model().Name, p.engine.Name)
	case gpus(p.Spec.RootResources) != gpus(p.Spec.WorkerResources) && p.engine.Grouped && p.status.Nodes > 1:
		return "spec.workerResources: all nodes of a server need the same number of GPUs: give it that of spec.rootResources"
	case p.engine.Unfit != nil:
		if problem := p.engine.Unfit(p.modelFile()); problem != "" {
			return fmt.Sprintf("Model %q: %s", p.model().Name, problem)
		}
	}
	return ""
}

// modelFile is the path in the model's files that the engine loads; empty is all of
// them.
func (p *dllamaPlan) modelFile() string {
	if s := p.Spec.Engine.Server; s != nil && p.engine.Reads == engine.FilesSource {
		return cmp.Or(s.Model, p.artifact.ModelFile)
	}
	return p.artifact.ModelFile
}

// checkBuffers finds the type of the values that nodes exchange.
func (p *dllamaPlan) checkBuffers() (problem string) {
	if p.engine.Memory == nil || p.artifact.Weights == "" {
		return ""
	}
	var err error
	if p.buffers, err = p.engine.Memory.Buffers(topology.FloatType(p.artifact.Weights)); err != nil {
		return fmt.Sprintf("Model %q: %v", p.model().Name, err)
	}
	if asked := p.bufferType(); asked != "" && topology.FloatType(asked) != p.buffers {
		return fmt.Sprintf("spec.engine.bufferFloatType: weights of type %s run only with buffers of type %s, not %s", p.artifact.Weights, p.buffers, asked)
	}
	return ""
}

// planMemory reports the memory plan in the status, if the model's header is
// known. Before that the size of the files may say enough.
func (p *dllamaPlan) planMemory() (problem string) {
	if p.engine.Memory == nil || p.artifact.Shape == nil {
		return p.runtime(p.status.Nodes, 0).TooSmall(p.artifact.SizeBytes)
	}
	plan, problem := p.runtime(p.status.Nodes, int(p.seqLen())).Plan(preflight.Shape(*p.artifact.Shape))
	if problem != "" {
		return problem
	}
	p.status.RootMemoryBytes = p.widened(plan.Root().Total())
	if plan.Nodes > 1 {
		p.status.WorkerMemoryBytes = plan.Worker().Total()
	}
	return ""
}

// runtime is how the engine is to run the model.
func (p *dllamaPlan) runtime(nodes int32, seqLen int) preflight.Runtime {
	field, _ := p.nodesField()
	return preflight.Runtime{
		Engine: p.engine.Name, Nodes: int(nodes), SeqLen: seqLen, Slots: int(p.Spec.Engine.Slots), Buffers: p.Spec.Engine.BufferFloatType, Field: field,
		RootMemory: memoryLimit(p.Spec.RootResources), WorkerMemory: memoryLimit(p.Spec.WorkerResources),
	}
}

func (p *dllamaPlan) bufferType() string {
	if t := p.Spec.Engine.BufferFloatType; t != "" {
		return t
	}
	return p.launchOption("--buffer-float-type")
}

// launchOption is the value of an option in the Model's launchOptions.
func (p *dllamaPlan) launchOption(name string) string {
	return workload.Option(p.artifact.LaunchOptions, name)
}

func (p *dllamaPlan) seqLen() int32 {
	if api := p.engine.API; api != nil && !api.Context {
		return 0
	}
	if n := p.asked(); n > 0 {
		return int32(n)
	}
	if p.engine.API != nil {
		return 0 // the server's own
	}
	if s := p.artifact.Shape; s != nil && s.SeqLen < topology.DefaultSeqLen {
		return int32(s.SeqLen)
	}
	return topology.DefaultSeqLen
}

// asked is the longest context that the claim or its Model names; 0 if neither does.
func (p *dllamaPlan) asked() int {
	if n := p.Spec.Engine.MaxSeqLen; n > 0 {
		return int(n)
	}
	if n, err := strconv.ParseInt(p.launchOption("--max-seq-len"), 10, 32); err == nil && n >= topology.MinSeqLen {
		return int(n)
	}
	return 0
}

func (p *dllamaPlan) threads() int32 {
	n := max(p.Spec.Engine.Threads, 1)
	if own, err := strconv.ParseInt(p.launchOption("--nthreads"), 10, 32); err == nil && own > 0 && own <= 512 && n == 1 {
		return int32(own)
	}
	return n
}

// widened is the memory of the root with what the claim adds.
func (p *dllamaPlan) widened(bytes int64) int64 {
	if m := p.Spec.RootMemory; m != nil && m.OverheadMaxRatio > 1 {
		return int64(float64(bytes) * m.OverheadMaxRatio)
	}
	return bytes
}
