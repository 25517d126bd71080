package preflight_test

import (
	"strings"
	"testing"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/preflight"
	"github.com/gorizond/koldun/internal/model/topology"
)

func shape() topology.Shape {
	return topology.Shape{Arch: topology.Llama, Dim: 4096, HiddenDim: 14336, Layers: 32, Heads: 32, KVHeads: 8, HeadDim: 128, VocabSize: 128256, SeqLen: 131072, Weights: topology.Q40}
}

func TestPlan(t *testing.T) {
	f16 := shape()
	f16.Weights = topology.F16
	for name, c := range map[string]struct {
		runtime preflight.Runtime
		shape   topology.Shape
		says    string // empty: it can run
	}{
		"Fits":          {preflight.Runtime{Engine: "distributed-llama", Nodes: 4, RootMemory: 32 << 30, WorkerMemory: 32 << 30}, shape(), ""},
		"Nodes":         {preflight.Runtime{Engine: "distributed-llama", Nodes: 16, Field: "spec.replicaPower"}, shape(), "spec.replicaPower: cannot spread the model onto 16 nodes"},
		"Context":       {preflight.Runtime{Engine: "embedded", Nodes: 1, SeqLen: 1 << 20}, shape(), "spec.engine.maxSeqLen: cannot serve"},
		"Buffers":       {preflight.Runtime{Engine: "embedded", Nodes: 1, Buffers: "f32"}, shape(), "spec.engine.bufferFloatType: weights of type q40"},
		"Weights":       {preflight.Runtime{Engine: "embedded", Nodes: 1}, f16, `weights of type "f16" can be stored but not run`},
		"Root":          {preflight.Runtime{Engine: "distributed-llama", Nodes: 1, RootMemory: 1 << 30}, shape(), "limits.memory of spec.rootResources"},
		"Worker":        {preflight.Runtime{Engine: "distributed-llama", Nodes: 2, WorkerMemory: 1 << 30}, shape(), "limits.memory of spec.workerResources: on 2"},
		"MappedWeights": {preflight.Runtime{Engine: "embedded", Nodes: 1, RootMemory: 1 << 30}, shape(), ""},
		"NoPlan":        {preflight.Runtime{Engine: "openai", Nodes: 3, RootMemory: 1}, shape(), ""},
		"UnknownEngine": {preflight.Runtime{Engine: "none", Nodes: 3}, shape(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, problem := c.runtime.Plan(c.shape)
			if (problem == "") != (c.says == "") || !strings.Contains(problem, c.says) {
				t.Errorf("got %q, want %q", problem, c.says)
			}
		})
	}
}

func TestAnnotation(t *testing.T) {
	want := preflight.Runtime{Engine: "embedded", Nodes: 2, SeqLen: 3, Buffers: "q80", RootMemory: 4, WorkerMemory: 5, Field: "spec.nodes"}
	value, err := want.Annotation()
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := preflight.FromAnnotation(map[string]string{v1.AnnotationRuntime: value}); !ok || got != want {
		t.Errorf("got %+v, %v, want %+v", got, ok, want)
	}
	for _, bad := range []string{"", "{}", "x"} {
		if _, ok := preflight.FromAnnotation(map[string]string{v1.AnnotationRuntime: bad}); ok {
			t.Errorf("%q is a runtime", bad)
		}
	}
}

func TestShapeSurvivesTheStatus(t *testing.T) {
	want := shape()
	want.Experts, want.ActiveExperts, want.MoEHiddenDim = 8, 2, 64
	if got := preflight.Shape(*preflight.StatusOf(want)); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
