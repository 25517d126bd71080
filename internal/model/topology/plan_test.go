package topology_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/model/topology"
)

func llama(dim, hidden, layers, heads, kv, hd, vocab int) topology.Shape {
	return topology.Shape{Arch: topology.Llama, Dim: dim, HiddenDim: hidden, Layers: layers, Heads: heads, KVHeads: kv,
		HeadDim: hd, VocabSize: vocab, SeqLen: 131072, Weights: topology.Q40}
}

func qwen3(dim, hidden, layers, heads, kv int) topology.Shape {
	s := llama(dim, hidden, layers, heads, kv, 128, 151936)
	s.Arch, s.SeqLen = topology.Qwen3, 40960
	return s
}

var published = map[string]topology.Shape{
	"Llama1B":  llama(2048, 8192, 16, 32, 8, 64, 128256),
	"Llama8B":  llama(4096, 14336, 32, 32, 8, 128, 128256),
	"Llama70B": llama(8192, 28672, 80, 64, 8, 128, 128256),
	"Qwen0.6B": qwen3(1024, 3072, 28, 16, 8),
	"Qwen8B":   qwen3(4096, 12288, 36, 32, 8),
	"Qwen14B":  qwen3(5120, 17408, 40, 40, 8),
	"Qwen30BA3B": {Arch: topology.Qwen3MoE, Dim: 2048, HiddenDim: 6144, Layers: 48, Heads: 32, KVHeads: 4, HeadDim: 128,
		VocabSize: 151936, SeqLen: 40960, Experts: 128, ActiveExperts: 8, MoEHiddenDim: 768, Weights: topology.Q40},
}

// The numbers distributed-llama prints as RequiredMemory, in MB, for a context
// of 4096 tokens with q40 weights and q80 buffers.
func TestPrintedMemory(t *testing.T) {
	cases := map[string][]struct {
		nodes        int
		root, worker int64
	}{
		"Llama1B":    {{1, 2006, 0}, {2, 1513, 523}, {4, 1266, 282}, {8, 1143, 162}},
		"Llama8B":    {{1, 7177, 0}, {2, 4600, 2620}, {4, 3312, 1344}, {8, 2668, 706}},
		"Llama70B":   {{1, 44071, 0}, {2, 24053, 20101}, {4, 14044, 10120}, {8, 9040, 5130}},
		"Qwen0.6B":   {{1, 1859, 0}, {2, 1237, 643}, {4, 926, 332}, {8, 770, 177}},
		"Qwen8B":     {{1, 7652, 0}, {2, 5025, 2651}, {4, 3712, 1338}, {8, 3056, 682}},
		"Qwen14B":    {{1, 11827, 0}, {2, 7410, 4442}, {4, 5202, 2234}, {8, 4098, 1131}},
		"Qwen30BA3B": {{1, 18270, 0}, {2, 9765, 8578}, {4, 5513, 4326}},
	}
	for name, rows := range cases {
		t.Run(name, func(t *testing.T) {
			for _, row := range rows {
				p, err := published[name].Preflight(topology.Request{Nodes: row.nodes, SeqLen: 4096})
				if err != nil {
					t.Fatal(err)
				}
				if got := p.Root().Total() >> 20; got != row.root {
					t.Errorf("root of %d needs %d MB, want %d", row.nodes, got, row.root)
				}
				if got := p.Worker().Total() >> 20; got != row.worker {
					t.Errorf("the largest worker of %d needs %d MB, want %d", row.nodes, got, row.worker)
				}
			}
		})
	}
}
