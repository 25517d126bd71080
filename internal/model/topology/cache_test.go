package topology_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/model/topology"
)

func TestCacheTokens(t *testing.T) {
	for name, c := range map[string]struct{ seqLen, slots, want int }{
		"One":          {4096, 1, 4096},
		"NotGiven":     {4096, 0, 4096},
		"OneContext":   {4096, 4, 4096},
		"ForEachSlot":  {4096, 8, 8192},
		"ShortContext": {512, 4, 2048},
		"LongContext":  {131072, 32, 131072},
	} {
		if got := topology.CacheTokens(c.seqLen, c.slots); got != c.want {
			t.Errorf("%s: %d positions, want %d", name, got, c.want)
		}
	}
}

// Only the cache of a plan depends on the slots.
func TestPlanOfSlots(t *testing.T) {
	plan := func(slots int) topology.Plan {
		p, err := tiny.Preflight(topology.Request{Nodes: 1, SeqLen: 100, Slots: slots})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one, six := plan(1).Root(), plan(6).Root()
	one.KVCache *= 6
	if one != six {
		t.Errorf("the plan for six slots is %+v, want %+v", six, one)
	}
}
