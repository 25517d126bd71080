package topology_test

import (
	"fmt"

	"github.com/gorizond/koldun/internal/model/topology"
)

// Plan the memory of Llama 3.1 8B on four nodes.
func ExampleShape_Preflight() {
	shape := topology.Shape{
		Arch: topology.Llama, Dim: 4096, HiddenDim: 14336, Layers: 32, Heads: 32, KVHeads: 8, HeadDim: 128,
		VocabSize: 128256, SeqLen: 131072, Weights: topology.Q40,
	}
	plan, err := shape.Preflight(topology.Request{Nodes: 4, SeqLen: 4096})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("root %d MiB, worker %d MiB\n", plan.Root().Total()>>20, plan.Worker().Total()>>20)

	_, err = shape.Preflight(topology.Request{Nodes: 3})
	fmt.Println(err)
	// Output:
	// root 3312 MiB, worker 1344 MiB
	// cannot spread the model onto 3 nodes: 3 does not divide its kv heads of 8; it can be spread onto 1, 2, 4, 8 nodes
}
