package convert_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/convert/converttest"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/formats/safetensors"
	"github.com/gorizond/koldun/internal/model/topology"
)

// A testModel is a small model that a test makes up.
type testModel struct {
	config  map[string]any
	tensors []testTensor
}

type testTensor struct {
	name  string
	shape []int
	dtype safetensors.DType
	raw   []byte
}

// values widens the raw values one by one.
func (t testTensor) values() []float32 {
	var out []float32
	switch t.dtype {
	case safetensors.F32:
		for i := 0; i < len(t.raw); i += 4 {
			out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(t.raw[i:])))
		}
	case safetensors.F16:
		for i := 0; i < len(t.raw); i += 2 {
			out = append(out, dllama.FromF16(binary.LittleEndian.Uint16(t.raw[i:])))
		}
	case safetensors.BF16:
		for i := 0; i < len(t.raw); i += 2 {
			out = append(out, dllama.FromBF16(binary.LittleEndian.Uint16(t.raw[i:])))
		}
	}
	return out
}

func (m *testModel) add(rng *rand.Rand, name string, dtype safetensors.DType, shape ...int) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	t := testTensor{name: name, shape: shape, dtype: dtype}
	for range n {
		f := float32(rng.NormFloat64() * math.Pow(2, float64(rng.IntN(24)-20)))
		switch dtype {
		case safetensors.F32:
			t.raw = binary.LittleEndian.AppendUint32(t.raw, math.Float32bits(f))
		case safetensors.F16:
			t.raw = binary.LittleEndian.AppendUint16(t.raw, dllama.F16(f))
		default:
			t.raw = binary.LittleEndian.AppendUint16(t.raw, uint16(math.Float32bits(f)>>16))
		}
	}
	m.tensors = append(m.tensors, t)
}

// makeModel makes up a model with random weights.
func makeModel(arch topology.Arch, dtype safetensors.DType, tied bool) *testModel {
	const dim, hidden, layers, heads, kv, hd, vocab, experts, moe = 64, 96, 2, 4, 2, 16, 48, 3, 32
	shape := converttest.Shape{
		Arch: arch, Dim: dim, Hidden: hidden, Layers: layers, Heads: heads, KVHeads: kv, HeadDim: hd, Vocab: vocab, SeqLen: 128,
		Experts: experts, Active: 2, ExpertWidth: moe,
	}
	m := &testModel{config: shape.Config()}
	rng := rand.New(rand.NewPCG(7, uint64(len(arch))))
	for _, t := range shape.Tensors(tied) {
		m.add(rng, t.Name, dtype, t.Shape...)
	}
	return m
}

func (m *testModel) tensor(name string) *testTensor {
	for i := range m.tensors {
		if m.tensors[i].name == name {
			return &m.tensors[i]
		}
	}
	return nil
}

// remove drops a tensor.
func (m *testModel) remove(name string) {
	var keep []testTensor
	for _, t := range m.tensors {
		if t.name != name {
			keep = append(keep, t)
		}
	}
	m.tensors = keep
}

// store writes the model as so many safetensors files.
func (m *testModel) store(tb testing.TB, shards int) *memStore {
	tb.Helper()
	s := newMemStore()
	raw, err := json.Marshal(m.config)
	if err != nil {
		tb.Fatal(err)
	}
	s.set("config.json", raw)
	for i := range shards {
		var part []testTensor
		for j := i; j < len(m.tensors); j += shards { // every shard has some of each layer
			part = append(part, m.tensors[j])
		}
		s.set(fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, shards), encodeSafetensors(tb, part))
	}
	return s
}

func encodeSafetensors(tb testing.TB, tensors []testTensor) []byte {
	tb.Helper()
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data []byte
	for _, x := range tensors {
		header[x.name] = map[string]any{"dtype": x.dtype, "shape": x.shape, "data_offsets": []int{len(data), len(data) + len(x.raw)}}
		data = append(data, x.raw...)
	}
	raw, err := json.Marshal(header)
	if err != nil {
		tb.Fatal(err)
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(raw)))
	return append(append(out, raw...), data...)
}
