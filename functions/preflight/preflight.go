// Package preflight checks whether an engine can run a model by the model's
// config.json, before its files are downloaded and converted.
package preflight

import (
	"cmp"
	"encoding/json"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/engine/catalog"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
)

// A Runtime is how a model is to run. A Dllama annotates the Model that it composes
// with its own, as JSON.
type Runtime struct {
	Engine  string `json:"engine"`
	Nodes   int    `json:"nodes"`
	SeqLen  int    `json:"seqLen,omitempty"`  // 0 is the default
	Slots   int    `json:"slots,omitempty"`   // 0 is the engine's own number
	Buffers string `json:"buffers,omitempty"` // type of the buffers between nodes; empty follows from the weights
	// Memory limits of each node in bytes; 0 is none.
	RootMemory   int64 `json:"rootMemory,omitempty"`
	WorkerMemory int64 `json:"workerMemory,omitempty"`
	// Field of the claim that says the number of nodes.
	Field string `json:"field"`
}

// Annotation returns the runtime as the value of v1.AnnotationRuntime.
func (r Runtime) Annotation() (string, error) {
	raw, err := json.Marshal(r)
	return string(raw), err
}

// FromAnnotation returns the runtime of a Model that a Dllama composes. ok is false if
// there is none, or one that cannot be read.
func FromAnnotation(annotations map[string]string) (r Runtime, ok bool) {
	err := json.Unmarshal([]byte(annotations[v1.AnnotationRuntime]), &r)
	return r, err == nil && r.Nodes > 0
}

// Plan returns what the nodes need, or begins a problem with the field to change. Both
// are empty if nothing is known of the engine's memory.
func (r Runtime) Plan(shape topology.Shape) (plan topology.Plan, problem string) {
	e, err := catalog.ByName(r.Engine)
	if err != nil || e.Memory == nil {
		return plan, ""
	}
	ask := topology.Request{Nodes: r.Nodes, SeqLen: r.SeqLen, Slots: cmp.Or(r.Slots, e.Slots), Sync: topology.FloatType(r.Buffers)}
	if ask.SeqLen == 0 {
		ask.SeqLen = min(shape.SeqLen, topology.DefaultSeqLen)
	}
	if e.Memory.Limit {
		ask.RootMemory, ask.WorkerMemory = r.RootMemory, r.WorkerMemory
	}
	if _, err := e.Memory.Buffers(shape.Weights); err != nil {
		return plan, err.Error()
	}
	if plan, err = e.Memory.Plan(shape, ask); err != nil {
		return plan, r.field(err, plan, ask, ask.SeqLen > shape.SeqLen) + ": " + err.Error()
	}
	return plan, ""
}

// TooSmall begins a problem with the field to change if the root cannot hold its part of
// files of that size in bytes, before their header is known. It is empty if it can, or if
// the size is 0.
func (r Runtime) TooSmall(size int64) (problem string) {
	e, err := catalog.ByName(r.Engine)
	if err != nil || e.Memory == nil || !e.Memory.Limit || r.RootMemory == 0 {
		return ""
	}
	if err := topology.CheckSize(size, r.Nodes, r.RootMemory); err != nil {
		return fieldRootMemory + ": " + err.Error()
	}
	return ""
}

// fieldRootMemory is the field with the memory limit of the root.
const fieldRootMemory = "limits.memory of spec.rootResources"

// field returns the field of the claim that an error of a plan is about.
func (r Runtime) field(err error, plan topology.Plan, ask topology.Request, long bool) string {
	switch kind := fault.KindOf(err); {
	case kind == fault.Quota && plan.RootFits(ask):
		return "limits.memory of spec.workerResources"
	case kind == fault.Quota:
		return fieldRootMemory
	case kind == fault.Unsupported:
		return "spec.engine.bufferFloatType"
	case long:
		return "spec.engine.maxSeqLen"
	}
	return r.Field
}

// Shape converts the header of a model.
func Shape(s v1alpha1.ModelShape) topology.Shape {
	return topology.Shape{
		Arch: topology.Arch(s.Arch), Dim: s.Dim, HiddenDim: s.HiddenDim, Layers: s.Layers, Heads: s.Heads, KVHeads: s.KVHeads,
		HeadDim: s.HeadDim, VocabSize: s.VocabSize, SeqLen: s.SeqLen, Experts: s.Experts, ActiveExperts: s.ActiveExperts,
		MoEHiddenDim: s.MoEHiddenDim, Weights: topology.FloatType(s.Weights),
	}
}

// StatusOf is the inverse of Shape.
func StatusOf(s topology.Shape) *v1alpha1.ModelShape {
	return &v1alpha1.ModelShape{
		Arch: string(s.Arch), Dim: s.Dim, HiddenDim: s.HiddenDim, Layers: s.Layers, Heads: s.Heads, KVHeads: s.KVHeads,
		HeadDim: s.HeadDim, VocabSize: s.VocabSize, SeqLen: s.SeqLen, Experts: s.Experts, ActiveExperts: s.ActiveExperts,
		MoEHiddenDim: s.MoEHiddenDim, Weights: string(s.Weights),
	}
}
