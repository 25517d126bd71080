package convert_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/gorizond/koldun/internal/formats/dllama"
	"github.com/gorizond/koldun/internal/formats/safetensors"
	"github.com/gorizond/koldun/internal/topology"
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
	m := &testModel{config: map[string]any{
		"model_type": string(arch), "hidden_act": "silu", "hidden_size": dim, "intermediate_size": hidden, "num_hidden_layers": layers,
		"num_attention_heads": heads, "num_key_value_heads": kv, "head_dim": hd, "vocab_size": vocab, "max_position_embeddings": 128,
		"rms_norm_eps": 1e-6, "rope_theta": 10000.0,
	}}
	rng := rand.New(rand.NewPCG(7, uint64(len(arch))))
	m.add(rng, "model.embed_tokens.weight", dtype, vocab, dim)
	for l := range layers {
		p := fmt.Sprintf("model.layers.%d.", l)
		m.add(rng, p+"self_attn.q_proj.weight", dtype, heads*hd, dim)
		m.add(rng, p+"self_attn.k_proj.weight", dtype, kv*hd, dim)
		m.add(rng, p+"self_attn.v_proj.weight", dtype, kv*hd, dim)
		m.add(rng, p+"self_attn.o_proj.weight", dtype, dim, heads*hd)
		ff := func(prefix string, width int) {
			m.add(rng, prefix+"gate_proj.weight", dtype, width, dim)
			m.add(rng, prefix+"up_proj.weight", dtype, width, dim)
			m.add(rng, prefix+"down_proj.weight", dtype, dim, width)
		}
		if arch == topology.Qwen3MoE {
			m.config["num_experts"], m.config["num_experts_per_tok"], m.config["moe_intermediate_size"] = experts, 2, moe
			m.config["norm_topk_prob"] = true
			m.add(rng, p+"mlp.gate.weight", dtype, experts, dim)
			for e := range experts {
				ff(p+"mlp.experts."+strconv.Itoa(e)+".", moe)
			}
		} else {
			ff(p+"mlp.", hidden)
		}
		if arch != topology.Llama {
			m.add(rng, p+"self_attn.q_norm.weight", dtype, hd)
			m.add(rng, p+"self_attn.k_norm.weight", dtype, hd)
		}
		m.add(rng, p+"input_layernorm.weight", dtype, dim)
		m.add(rng, p+"post_attention_layernorm.weight", dtype, dim)
	}
	m.add(rng, "model.norm.weight", dtype, dim)
	if !tied {
		m.add(rng, "lm_head.weight", dtype, vocab, dim)
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
