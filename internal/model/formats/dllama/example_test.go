package dllama_test

import (
	"bytes"
	"fmt"

	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/topology"
)

// Encode a header, and find a tensor in the file that it describes.
func ExampleHeader() {
	header := dllama.Header{
		Arch: topology.Llama, Activation: dllama.SiLU, Dim: 128, HiddenDim: 384, Layers: 4, Heads: 8, KVHeads: 4,
		Weights: topology.Q40, SeqLen: 512, VocabSize: 1024,
	}
	raw, err := header.Encode()
	if err != nil {
		fmt.Println(err)
		return
	}
	file, err := dllama.Open(bytes.NewReader(append(raw, make([]byte, header.FileSize()-int64(len(raw)))...)), header.FileSize())
	if err != nil {
		fmt.Println(err)
		return
	}
	query, ok := file.Find(dllama.Query, 0, -1)
	fmt.Println(query.Name, query.Rows, query.Cols, query.Type, ok)
	// Output:
	// model.layers.0.self_attn.q_proj.weight 128 128 q40 true
}
