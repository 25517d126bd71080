package dllama_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/topology"
)

func moe() dllama.Header {
	return dllama.Header{
		Arch: topology.Qwen3MoE, Activation: dllama.SiLU, Dim: 64, HiddenDim: 96, Layers: 2, Heads: 4, KVHeads: 2, Weights: topology.Q40,
		SeqLen: 128, VocabSize: 48, Experts: 3, ActiveExperts: 2, RopeTheta: 1000000, HeadDim: 16, NormEpsilon: 6, MoEHidden: 32,
	}
}

func TestHeaderRoundTrip(t *testing.T) {
	plain := dllama.Header{Arch: topology.Llama, Dim: 64, HiddenDim: 96, Layers: 1, Heads: 4, KVHeads: 4, Weights: topology.F16, SeqLen: 8, VocabSize: 32}
	scaled := plain
	scaled.RopeScaling = &dllama.RopeScaling{Factor: 8, LowFreqFactor: 1, HighFreqFactor: 4, OriginalSeqLen: 128}
	scaled.RopeType, scaled.RopeTheta, scaled.NormEpsilon = dllama.RopeLlama3, 500000, 5
	for name, h := range map[string]dllama.Header{"Plain": plain, "Scaled": scaled, "MoE": moe()} {
		t.Run(name, func(t *testing.T) {
			raw, err := h.Encode()
			if err != nil {
				t.Fatal(err)
			}
			got, err := dllama.ReadHeader(bytes.NewReader(append(raw, "weights"...)))
			if err != nil {
				t.Fatal(err)
			}
			h.Size = len(raw)
			if d := cmp.Diff(h, got); d != "" {
				t.Errorf("header (-want +got):\n%s", d)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	h := dllama.Header{Arch: topology.Llama, Dim: 64, Heads: 4}
	if h.Theta() != 10000 || h.Epsilon() != 1e-5 || h.Shape().HeadDim != 16 || h.Rope() != dllama.RopePairs {
		t.Errorf("defaults are %g, %g, %d, %d", h.Theta(), h.Epsilon(), h.Shape().HeadDim, h.Rope())
	}
	if m := moe(); m.Theta() != 1e6 || m.Epsilon() != 1e-6 || m.Rope() != dllama.RopeHalves {
		t.Errorf("numbers are %g, %g, %d", m.Theta(), m.Epsilon(), m.Rope())
	}
}

func TestPlanOfExperts(t *testing.T) {
	h := moe()
	tensors := h.Tensors()
	if len(tensors) != 3+2*(4+1+3*3+2+2) {
		t.Errorf("there are %d tensors", len(tensors))
	}
	var names []string
	for _, x := range tensors[5:12] {
		names = append(names, strings.TrimPrefix(x.Name, "model.layers.0."))
	}
	want := []string{"mlp.gate.weight", "mlp.experts.0.gate_proj.weight", "mlp.experts.0.down_proj.weight", "mlp.experts.0.up_proj.weight",
		"mlp.experts.1.gate_proj.weight", "mlp.experts.1.down_proj.weight", "mlp.experts.1.up_proj.weight"}
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
	at := tensors[0].Offset
	for _, x := range tensors {
		if x.Offset != at || x.Size != x.Type.Bytes(x.Elements()) {
			t.Errorf("tensor %q lies at %d with %d bytes, want %d and %d", x.Name, x.Offset, x.Size, at, x.Type.Bytes(x.Elements()))
		}
		at = x.End()
	}
	if at != h.FileSize() {
		t.Errorf("the tensors end at %d, the file at %d", at, h.FileSize())
	}
}

func TestOpenFindsTensors(t *testing.T) {
	raw, err := os.ReadFile(oracles + "dllama_model_llama_bf16_2shards_f32.m")
	if err != nil {
		t.Fatal(err)
	}
	f, err := dllama.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	q, ok := f.Find(dllama.Query, 1, -1)
	if !ok || q.Name != "model.layers.1.self_attn.q_proj.weight" || q.Rows != 64 || q.Cols != 64 {
		t.Fatalf("found %+v, %t", q, ok)
	}
	if _, ok := f.Find(dllama.Query, 2, -1); ok {
		t.Error("found a tensor of a layer that is not there")
	}
	values, err := f.Read(q)
	if err != nil {
		t.Fatal(err)
	}
	first := math.Float32frombits(binary.LittleEndian.Uint32(q.Of(raw)))
	if len(values) != 64*64 || values[0] != first {
		t.Errorf("read %d values that begin with %g, want 4096 and %g", len(values), values[0], first)
	}
}

// change returns a copy of a header with the value of a key replaced.
func change(raw []byte, key, value uint32) []byte {
	out := bytes.Clone(raw)
	for i := 8; i < len(out); i += 8 {
		if binary.LittleEndian.Uint32(out[i:]) == key {
			binary.LittleEndian.PutUint32(out[i+4:], value)
		}
	}
	return out
}

func TestHostileHeaders(t *testing.T) {
	h := moe()
	good, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	put := func(at int, v uint32) []byte {
		out := bytes.Clone(good)
		binary.LittleEndian.PutUint32(out[at:], v)
		return out
	}
	cases := map[string]struct {
		raw  []byte
		want string
	}{
		"Empty":          {nil, "ends before its magic"},
		"Magic":          {put(0, 0x46554747), "magic is 0x46554747"},
		"OldMagic":       {put(0, 0xABCD00), "old format"},
		"NegativeSize":   {put(4, 0xffffffff), "header size is 4294967295"},
		"HugeSize":       {put(4, 1<<20), "header size is 1048576"},
		"OddSize":        {put(4, 13), "header size is 13"},
		"Cut":            {good[:40], "ends before its"},
		"UnknownKey":     {put(8, 99), "key 99 at byte 8 is not known"},
		"NegativeKey":    {put(8, 0xffffffff), "key -1"},
		"Twice":          {put(8, 1), "key 1 (arch_type) is listed twice"},
		"Version":        {change(good, 0, 1), "version is 1"},
		"Arch":           {change(good, 1, 7), "architecture is 0x7"},
		"Weights":        {change(good, 13, 9), "weights float type is 9"},
		"NegativeDim":    {change(good, 2, 0xffffffc0), "dim (hidden_size) is -64"},
		"HugeVocabulary": {change(good, 9, 1<<30), "vocabulary (vocab_size) is 1073741824"},
		"NoHeads":        {change(good, 5, 0), "heads (num_attention_heads) is 0"},
		"NoLayers":       {change(good, 4, 0), "layers"},
		"ManyExperts":    {change(good, 7, 1<<20), "experts (num_experts) is 1048576"},
		"OddDim":         {change(good, 2, 65), "multiple of 32"},
		"Epsilon":        {change(good, 20, 8), "norm epsilon is 8"},
		"Activation":     {change(good, 11, 2), "hidden activation is 2"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := dllama.ReadHeader(bytes.NewReader(c.raw))
			if err == nil || !strings.Contains(err.Error(), c.want) || !fault.Final(err) {
				t.Errorf("error is %v, want a final one with %q", err, c.want)
			}
		})
	}
}

func TestOpenWantsTheSize(t *testing.T) {
	h := moe()
	raw, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	size := h.FileSize()
	if size != int64(len(raw))+h.Shape().WeightBytes() {
		t.Fatalf("file size is %d", size)
	}
	raw = append(raw, make([]byte, size-int64(len(raw)))...)
	if _, err := dllama.Open(bytes.NewReader(raw), size); err != nil {
		t.Error(err)
	}
	if _, err := dllama.Open(bytes.NewReader(raw), size-1); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "(-1)") {
		t.Errorf("error is %v, want a Corrupt one that says one byte is missing", err)
	}
}

func FuzzOpen(f *testing.F) {
	h := moe()
	raw, err := h.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw, h.FileSize())
	f.Add(change(raw, 13, 0), int64(1<<40))
	f.Fuzz(func(t *testing.T, raw []byte, size int64) {
		if size < 0 || size > 1<<62 {
			return
		}
		file, err := dllama.Open(bytes.NewReader(raw), size)
		if err != nil {
			return
		}
		for _, x := range file.Tensors {
			if x.Offset < 8 || x.Size <= 0 || x.End() > size {
				t.Fatalf("tensor %+v lies outside of %d bytes", x, size)
			}
		}
	})
}
