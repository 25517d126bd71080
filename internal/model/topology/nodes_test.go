package topology_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
)

// tiny is examples/models/koldun-tiny; six is a model with a number of heads
// that is no power of two.
var (
	tiny = topology.Shape{Arch: topology.Llama, Dim: 128, HiddenDim: 384, Layers: 4, Heads: 8, KVHeads: 4, HeadDim: 16,
		VocabSize: 1024, SeqLen: 512, Weights: topology.Q40}
	six = topology.Shape{Arch: topology.Llama, Dim: 192, HiddenDim: 288, Layers: 2, Heads: 6, KVHeads: 6, HeadDim: 32,
		VocabSize: 384, SeqLen: 256, Weights: topology.Q40}
)

func TestNodes(t *testing.T) {
	f32 := six
	f32.Weights = topology.F32
	narrow := tiny
	narrow.Heads = 4
	cases := map[string]struct {
		shape topology.Shape
		sync  topology.FloatType
		want  []int
	}{
		"Tiny":     {tiny, topology.Q80, []int{1, 2, 4}},
		"Six":      {six, topology.Q80, []int{1, 3}}, // 2: 144 of 288, and 6: 48, are no whole blocks
		"SixF32":   {f32, topology.F32, []int{1, 2, 3, 6}},
		"Query":    {narrow, topology.Q80, []int{1, 2}}, // 4: a query width of 16 is no whole block
		"Llama70B": {published["Llama70B"], topology.Q80, []int{1, 2, 4, 8}},
		"MoE":      {published["Qwen30BA3B"], topology.Q80, []int{1, 2, 4}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, c.shape.Nodes(c.sync)); d != "" {
				t.Errorf("nodes (-want +got):\n%s", d)
			}
		})
	}
}

func TestPreflightRefuses(t *testing.T) {
	q80 := tiny
	q80.Weights = topology.Q80
	bad := tiny
	bad.KVHeads = 3
	cases := map[string]struct {
		shape topology.Shape
		req   topology.Request
		kind  fault.Kind
		want  []string
	}{
		"NoNodes":       {tiny, topology.Request{}, fault.Invalid, []string{"0 nodes", "1, 2, 4 nodes"}},
		"TooMany":       {tiny, topology.Request{Nodes: 8}, fault.Invalid, []string{"8 nodes", "4 kv heads", "1, 2, 4 nodes"}},
		"Divides":       {tiny, topology.Request{Nodes: 3}, fault.Invalid, []string{"3 does not divide", "kv heads of 4"}},
		"Blocks":        {six, topology.Request{Nodes: 2}, fault.Invalid, []string{"feed-forward width of 144", "multiple of 32", "1, 3 nodes"}},
		"LongContext":   {tiny, topology.Request{Nodes: 1, SeqLen: 1024}, fault.Invalid, []string{"1024 tokens", "1 to 512"}},
		"NegativeSeq":   {tiny, topology.Request{Nodes: 1, SeqLen: -1}, fault.Invalid, []string{"-1 tokens"}},
		"Weights":       {q80, topology.Request{Nodes: 1}, fault.Unsupported, []string{`"q80"`}},
		"Sync":          {tiny, topology.Request{Nodes: 1, Sync: topology.F32}, fault.Unsupported, []string{"q40", "q80", "f32"}},
		"Shape":         {bad, topology.Request{Nodes: 1}, fault.Invalid, []string{"8 heads", "3 kv heads"}},
		"RootMemory":    {published["Llama8B"], topology.Request{Nodes: 2, SeqLen: 4096, RootMemory: 4 << 30, WorkerMemory: 4 << 30}, fault.Quota, []string{"the root needs 4601 MiB", "4096 MiB", "4 nodes", "tokens would do"}},
		"WorkerMemory":  {published["Llama70B"], topology.Request{Nodes: 8, SeqLen: 4096, RootMemory: 64 << 30, WorkerMemory: 1 << 30}, fault.Quota, []string{"a worker needs 5131 MiB", "1024 MiB", "no number of nodes"}},
		"WholeSequence": {published["Llama8B"], topology.Request{Nodes: 1, RootMemory: 16 << 30}, fault.Quota, []string{"131072 tokens", "MiB and has 16384 MiB", "a context of"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := c.shape.Preflight(c.req)
			if !fault.Is(err, c.kind) {
				t.Fatalf("error is %v (%s), want %s", err, fault.KindOf(err), c.kind)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q does not name %q", err, w)
				}
			}
		})
	}
}

// TestLongestFitFits takes the context that a refusal proposes.
func TestLongestFitFits(t *testing.T) {
	s := published["Llama8B"]
	const have = 16 << 30
	last := 0
	for seq := 256; seq <= s.SeqLen; seq += 256 {
		if _, err := s.Preflight(topology.Request{Nodes: 1, SeqLen: seq, RootMemory: have}); err == nil {
			last = seq
		}
	}
	_, err := s.Preflight(topology.Request{Nodes: 1, RootMemory: have})
	if want := "a context of " + strconv.Itoa(last) + " tokens would do"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want one with %q", err, want)
	}
}

// TestMemoryJustEnough gives nodes exactly what they need, and one byte less.
func TestMemoryJustEnough(t *testing.T) {
	s := published["Llama8B"]
	p, err := s.Preflight(topology.Request{Nodes: 2, SeqLen: 4096})
	if err != nil {
		t.Fatal(err)
	}
	root, worker := p.Root().Total(), p.Worker().Total()
	request := topology.Request{Nodes: 2, SeqLen: 4096, RootMemory: root, WorkerMemory: worker}
	if _, err := s.Preflight(request); err != nil {
		t.Errorf("nodes with just enough are refused: %v", err)
	}
	request.WorkerMemory = worker - 1
	if _, err := s.Preflight(request); err == nil || !strings.Contains(err.Error(), "a worker needs") {
		t.Errorf("a worker that lacks one byte: got %v", err)
	}
	request.RootMemory = root - 1
	if _, err := s.Preflight(request); err == nil || !strings.Contains(err.Error(), "the root needs") {
		t.Errorf("a root that lacks one byte: got %v", err)
	}
	// A need of whole MiB is not rounded up.
	moe := topology.Request{Nodes: 2, SeqLen: 58, RootMemory: 1 << 30}
	if _, err := published["Qwen30BA3B"].Preflight(moe); err == nil || !strings.Contains(err.Error(), "the root needs 9377 MiB") {
		t.Errorf("a root that needs 9377 MiB: got %v", err)
	}
}

// TestShortestContexts serves one token, and proposes no context below 256.
func TestShortestContexts(t *testing.T) {
	s := published["Llama8B"]
	if _, err := s.Preflight(topology.Request{Nodes: 1, SeqLen: 1}); err != nil {
		t.Errorf("a context of one token is refused: %v", err)
	}
	least, err := s.Preflight(topology.Request{Nodes: 1, SeqLen: 256})
	if err != nil {
		t.Fatal(err)
	}
	have := least.Root().Total()
	if _, err := s.Preflight(topology.Request{Nodes: 1, RootMemory: have}); err == nil || !strings.Contains(err.Error(), "a context of 256 tokens would do") {
		t.Errorf("memory for 256 tokens: got %v", err)
	}
	if _, err := s.Preflight(topology.Request{Nodes: 1, RootMemory: have - 1}); err == nil || strings.Contains(err.Error(), "a context of") && strings.Contains(err.Error(), "tokens would do") {
		t.Errorf("memory for less than 256 tokens: got %v", err)
	}
}

func TestTraffic(t *testing.T) {
	// q80: 136 bytes for 128 values. Each node sends its parts of 8 sums to 3
	// others; the root also the embedding and a control packet to each, a
	// worker also its quarter of the logits.
	p, err := tiny.Preflight(topology.Request{Nodes: 4})
	if err != nil {
		t.Fatal(err)
	}
	root, worker := int64(2*4*3*136+3*(4*128+8)), int64(2*4*3*136+4*1024/4)
	if p.Traffic.RootPerToken != root || p.Traffic.WorkerPerToken != worker || p.Traffic.TotalPerToken != root+3*worker {
		t.Errorf("traffic is %+v, want %d and %d", p.Traffic, root, worker)
	}
	alone, err := tiny.Preflight(topology.Request{Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if alone.Traffic != (topology.Traffic{}) || alone.Worker() != (topology.Memory{}) {
		t.Errorf("a single node sends %+v and has a worker %+v", alone.Traffic, alone.Worker())
	}
}
