package dllama

import (
	"fmt"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/catalog"
)

// An ownEngine is the upstream of a claim without a server: an engine of the catalog, which
// is chosen by the number of nodes, and so when the Model is known.
type ownEngine struct {
	claim
	koldun string // Koldun's own image
}

func (o ownEngine) reads() engine.Files { return engine.FilesConverted }

func (o ownEngine) standIn(v1.Model, bool) *v1.ServedArtifact { return nil }

// describe says nothing of an engine that plans no memory: no work would be in vain.
func (o ownEngine) describe(spec v1.ModelSpec) (annotations map[string]string, problem string, err error) {
	nodes := o.nodes(spec.ReplicaPower)
	e, problem := o.engineOn(nodes)
	if problem != "" || e.Memory == nil {
		return nil, problem, nil
	}
	plan := nodePlan{claim: o.claim, engine: e, nodes: nodes, artifact: &v1.ServedArtifact{LaunchOptions: spec.LaunchOptions}}
	runtime := plan.runtime(plan.askedSeqLen())
	if spec.PreConverted {
		return nil, runtime.TooSmall(spec.PreConvertedSizeBytes), nil
	}
	runtime.Buffers = plan.bufferType()
	value, err := runtime.Annotation()
	return map[string]string{v1.AnnotationRuntime: value}, "", err
}

func (o ownEngine) engineOn(nodes int32) (e engine.Engine, problem string) {
	r := o.Spec.Runtime
	e, err := catalog.Choose(catalog.Claim{
		Engine: string(r.Engine.Type), Nodes: int(nodes), Koldun: o.koldun, Images: []string{r.RootImage, r.WorkerImage},
	})
	if err != nil {
		return e, fmt.Sprintf("spec.engine.type: %v", err)
	}
	if e.Configured != nil {
		return e, fmt.Sprintf("spec.engine.server: the %s engine needs it", e.Name)
	}
	return o.sized(e, r.Engine.Slots, nodes)
}

func (o ownEngine) additions() additions { return additions{} }

func (o ownEngine) registers(managed.Via) map[string]any { return nil }

func (o ownEngine) awaits() string { return "" }
