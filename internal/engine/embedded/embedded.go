// Package embedded describes Koldun's own engine: one node, started from
// Koldun's image with the command "koldun engine api".
package embedded

import (
	"strconv"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/model/constrain"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
)

// Engine returns the description. The engine is selected when a claim names no
// image but Koldun's own, for one node. It listens on loopback only, so it needs no guard; and its memory plan
// is distributed-llama's, with what forms of answers need, so it is no limit.
func Engine() engine.Engine {
	return engine.Engine{
		Name:       "embedded",
		Selects:    func(w engine.Wish) bool { return len(w.Images) == 0 && w.Nodes <= 1 },
		MaxNodes:   1,
		Slots:      defaultSlots,
		MaxSlots:   engine.MaxSlots,
		Parameters: []string{openai.HintTemperature, openai.HintTopP, openai.HintSeed},
		Operations: []string{string(openai.OperationChat), string(openai.OperationCompletion), string(openai.OperationEmbedding)},
		Features:   []string{string(openai.FeatureLogprobs), string(openai.FeatureTools), string(openai.FeatureToolChoice), string(openai.FeatureJSONSchema), string(openai.FeatureDimensions)},
		Memory: &engine.Memory{
			Plan:    plan,
			Buffers: topology.SyncFor,
			Loading: topology.Shape.LoadingMemory,
		},
		Root: root,
	}
}

// plan adds what forms of answers need: the tokens of the vocabulary, grammars, and
// what is known of each answer.
func plan(s topology.Shape, r topology.Request) (topology.Plan, error) {
	p, err := s.Preflight(r)
	if err == nil {
		p.Memory[0].Forms = constrain.Memory(s.VocabSize, max(r.Slots, 1))
	}
	return p, err
}

// defaultSlots gives a few users answers at once. Beyond that a batch gains little on
// the processors that the engine is for.
const defaultSlots = 4

func root(r engine.Root) engine.Pod {
	args := []string{
		"engine", "api",
		"--model=" + r.ModelFile,
		"--tokenizer=" + r.TokenizerFile,
		"--host=127.0.0.1", "--port=" + names.PortRef(engine.PortEngine),
		"--health-listen=:" + names.PortRef(engine.PortHealth),
		"--buffer-float-type=" + r.Buffers,
		"--nthreads=" + strconv.Itoa(int(max(r.Threads, 0))),
		"--max-seq-len=" + strconv.Itoa(int(max(r.SeqLen, 0))),
		"--slots=" + strconv.Itoa(max(r.Slots, 1)),
		"--temperature=0",
	}
	if r.ExtraGrace > 0 {
		args = append(args, "--grace="+(engine.RootGrace+r.ExtraGrace-engine.ExitTime).String())
	}
	return engine.Pod{Main: engine.Container{Name: "engine", Image: r.Image, Args: append(args, r.ExtraArgs...)}}
}
