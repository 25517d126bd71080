package topology_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/model/topology"
)

// TestWeightBytesOfFiles compares with files that the upstream converter wrote:
// a file is its header, whose length it states, and the weights.
func TestWeightBytesOfFiles(t *testing.T) {
	const folder = "../../artifact/convert/testdata"
	for model, config := range map[string]string{"llama_bf16_2shards": "llama_bf16_2shards", "qwen3_bf16_tied_headdim": "qwen3_bf16_tied_headdim"} {
		for _, weights := range []topology.FloatType{topology.F32, topology.Q40} {
			raw, err := os.ReadFile(filepath.Join(folder, "in", config, "config.json"))
			if err != nil {
				t.Fatal(err)
			}
			shape, err := topology.FromConfig(raw, weights)
			if err != nil {
				t.Fatal(err)
			}
			file, err := os.ReadFile(filepath.Join(folder, "out", "dllama_model_"+model+"_"+string(weights)+".m"))
			if err != nil {
				t.Fatal(err)
			}
			header := int64(binary.LittleEndian.Uint32(file[4:]))
			if got, want := shape.WeightBytes(), int64(len(file))-header; got != want {
				t.Errorf("%s in %s: %d bytes of weights, want %d", model, weights, got, want)
			}
		}
	}
}

// TestExactNumbers holds every term of the memory and traffic formulas, whose
// sums TestPrintedMemory compares with what distributed-llama prints, in MB.
func TestExactNumbers(t *testing.T) {
	q := tiny
	q.Arch = topology.Qwen3
	moe := topology.Shape{Arch: topology.Qwen3MoE, Dim: 128, HiddenDim: 64, Layers: 3, Heads: 4, KVHeads: 2, HeadDim: 64,
		VocabSize: 512, SeqLen: 256, Experts: 8, ActiveExperts: 2, MoEHiddenDim: 64, Weights: topology.Q40}
	f32 := six
	f32.Weights = topology.F32
	type numbers struct {
		Weights      int64
		Root, Worker topology.Memory
		Traffic      topology.Traffic
	}
	cases := map[string]struct {
		shape topology.Shape
		nodes int
		want  numbers
	}{
		"Tiny":      {tiny, 4, numbers{1044992, topology.Memory{Pipes: 165120, Buffers: 369088, KVCache: 262144, Weights: 657920}, topology.Memory{Pipes: 165120, Buffers: 467392, KVCache: 262144, Weights: 133632}, topology.Traffic{RootPerToken: 4824, WorkerPerToken: 4288, TotalPerToken: 17688, Shipping: 400896}}},
		"TinyAlone": {tiny, 1, numbers{1044992, topology.Memory{Pipes: 152064, Buffers: 1252096, KVCache: 1048576, Weights: 1044992}, topology.Memory{Pipes: 0, Buffers: 0, KVCache: 0, Weights: 0}, topology.Traffic{RootPerToken: 0, WorkerPerToken: 0, TotalPerToken: 0, Shipping: 0}}},
		"Qwen3":     {q, 2, numbers{1045504, topology.Memory{Pipes: 156416, Buffers: 565504, KVCache: 524288, Weights: 787456}, topology.Memory{Pipes: 156416, Buffers: 565504, KVCache: 524288, Weights: 263168}, topology.Traffic{RootPerToken: 1608, WorkerPerToken: 3136, TotalPerToken: 4744, Shipping: 263168}}},
		"MoE":       {moe, 2, numbers{814080, topology.Memory{Pipes: 90880, Buffers: 341952, KVCache: 393216, Weights: 546816}, topology.Memory{Pipes: 90880, Buffers: 341952, KVCache: 393216, Weights: 284672}, topology.Traffic{RootPerToken: 1336, WorkerPerToken: 1840, TotalPerToken: 3176, Shipping: 284672}}},
		"F32":       {f32, 3, numbers{3100416, topology.Memory{Pipes: 147712, Buffers: 328192, KVCache: 262144, Weights: 1232640}, topology.Memory{Pipes: 147712, Buffers: 328192, KVCache: 262144, Weights: 937728}, topology.Traffic{RootPerToken: 7696, WorkerPerToken: 6656, TotalPerToken: 21008, Shipping: 1875456}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := c.shape.Preflight(topology.Request{Nodes: c.nodes})
			if err != nil {
				t.Fatal(err)
			}
			got := numbers{c.shape.WeightBytes(), p.Root(), p.Worker(), p.Traffic}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("numbers (-want +got):\n%s", d)
			}
		})
	}
}
