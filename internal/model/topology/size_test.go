package topology_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
)

func TestCheckSize(t *testing.T) {
	for name, c := range map[string]struct {
		size   int64
		nodes  int
		memory int64
		says   string // empty: it may fit
	}{
		"Unknown":   {0, 1, 1 << 20, ""},
		"Fits":      {100 << 20, 1, 99 << 20, ""},
		"TooSmall":  {100 << 20, 1, 99<<20 - 1, "on 1 nodes the root needs at least 99 MiB for its part of the weights and has 98 MiB: at least 2 nodes"},
		"Spread":    {400 << 20, 4, 99 << 20, ""},
		"SpreadTwo": {400 << 20, 2, 99 << 20, "on 2 nodes the root needs at least 198 MiB for its part of the weights and has 99 MiB: at least 4 nodes"},
		"NoNodes":   {400 << 20, 0, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := topology.CheckSize(c.size, c.nodes, c.memory)
			if (err == nil) != (c.says == "") || err != nil && (!fault.Is(err, fault.Quota) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// TestCheckSizeRefusesNoPlanThatFits compares the bound with the plans of a model.
func TestCheckSizeRefusesNoPlanThatFits(t *testing.T) {
	s := topology.Shape{Arch: topology.Llama, Dim: 4096, HiddenDim: 14336, Layers: 32, Heads: 32, KVHeads: 8, HeadDim: 128, VocabSize: 128256, SeqLen: 8192, Weights: topology.Q40}
	for _, n := range s.Nodes(topology.Q80) {
		p, err := s.Preflight(topology.Request{Nodes: n, SeqLen: 32})
		if err != nil {
			t.Fatal(err)
		}
		if err := topology.CheckSize(s.WeightBytes()+4<<20, n, p.Root().Total()); err != nil {
			t.Errorf("on %d nodes: %v, but the plan is %d bytes", n, err, p.Root().Total())
		}
	}
}
