// Package converttest makes up models with random weights for tests.
package converttest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gorizond/koldun/internal/model/topology"
)

// A Shape has the sizes of a model. The fields of experts are of Qwen3MoE only.
type Shape struct {
	Arch                         topology.Arch
	Dim, Hidden, Layers          int
	Heads, KVHeads, HeadDim      int
	Vocab, SeqLen                int
	Experts, Active, ExpertWidth int
}

// A Tensor is the name and the shape of a tensor of a repository.
type Tensor struct {
	Name  string
	Shape []int
}

// Config returns the config.json.
func (s Shape) Config() map[string]any {
	c := map[string]any{
		"model_type": string(s.Arch), "hidden_act": "silu", "hidden_size": s.Dim, "intermediate_size": s.Hidden, "num_hidden_layers": s.Layers,
		"num_attention_heads": s.Heads, "num_key_value_heads": s.KVHeads, "head_dim": s.HeadDim, "vocab_size": s.Vocab, "max_position_embeddings": s.SeqLen,
		"rms_norm_eps": 1e-6, "rope_theta": 10000.0,
	}
	if s.Arch == topology.Qwen3MoE {
		c["num_experts"], c["num_experts_per_tok"], c["moe_intermediate_size"], c["norm_topk_prob"] = s.Experts, s.Active, s.ExpertWidth, true
	}
	return c
}

// Tensors returns the tensors; tied leaves out that of the head.
func (s Shape) Tensors(tied bool) []Tensor {
	var out []Tensor
	add := func(name string, shape ...int) { out = append(out, Tensor{name + ".weight", shape}) }
	ff := func(prefix string, width int) {
		add(prefix+"gate_proj", width, s.Dim)
		add(prefix+"up_proj", width, s.Dim)
		add(prefix+"down_proj", s.Dim, width)
	}
	add("model.embed_tokens", s.Vocab, s.Dim)
	for l := range s.Layers {
		p := fmt.Sprintf("model.layers.%d.", l)
		add(p+"self_attn.q_proj", s.Heads*s.HeadDim, s.Dim)
		add(p+"self_attn.k_proj", s.KVHeads*s.HeadDim, s.Dim)
		add(p+"self_attn.v_proj", s.KVHeads*s.HeadDim, s.Dim)
		add(p+"self_attn.o_proj", s.Dim, s.Heads*s.HeadDim)
		if s.Arch == topology.Qwen3MoE {
			add(p+"mlp.gate", s.Experts, s.Dim)
			for e := range s.Experts {
				ff(p+"mlp.experts."+strconv.Itoa(e)+".", s.ExpertWidth)
			}
		} else {
			ff(p+"mlp.", s.Hidden)
		}
		if s.Arch != topology.Llama {
			add(p+"self_attn.q_norm", s.HeadDim)
			add(p+"self_attn.k_norm", s.HeadDim)
		}
		add(p+"input_layernorm", s.Dim)
		add(p+"post_attention_layernorm", s.Dim)
	}
	add("model.norm", s.Dim)
	if !tied {
		add("lm_head", s.Vocab, s.Dim)
	}
	return out
}

// Write writes the model to a folder as a repository in bf16 has it, with the
// tokenizer of another one, whose vocabulary must have Vocab tokens. The weights
// are such that values neither vanish nor grow from layer to layer.
func Write(tb testing.TB, dir string, s Shape, tokenizer string) {
	tb.Helper()
	config := s.Config()
	var other map[string]any
	raw, err := os.ReadFile(filepath.Join(tokenizer, "config.json"))
	check(tb, err)
	check(tb, json.Unmarshal(raw, &other))
	config["bos_token_id"], config["eos_token_id"] = other["bos_token_id"], other["eos_token_id"]
	raw, err = json.Marshal(config)
	check(tb, err)
	check(tb, os.WriteFile(filepath.Join(dir, "config.json"), raw, 0o600))
	for _, name := range []string{"tokenizer.json", "tokenizer_config.json"} {
		raw, err := os.ReadFile(filepath.Join(tokenizer, name))
		check(tb, err)
		check(tb, os.WriteFile(filepath.Join(dir, name), raw, 0o600))
	}
	check(tb, os.WriteFile(filepath.Join(dir, "model.safetensors"), safetensors(tb, s.Tensors(false)), 0o600))
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// safetensors encodes the tensors with random values.
func safetensors(tb testing.TB, tensors []Tensor) []byte {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	header, data := map[string]any{}, []byte(nil)
	for _, t := range tensors {
		begin, n := len(data), 1
		for _, d := range t.Shape {
			n *= d
		}
		for range n {
			data = binary.LittleEndian.AppendUint16(data, uint16(math.Float32bits(value(rng, t.Shape))>>16))
		}
		header[t.Name] = map[string]any{"dtype": "BF16", "shape": t.Shape, "data_offsets": []int{begin, len(data)}}
	}
	raw, err := json.Marshal(header)
	check(tb, err)
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))), raw...), data...)
}

// value returns a value of a matrix with the variance of one over its inputs, or
// one near 1 of a norm.
func value(rng *rand.Rand, shape []int) float32 {
	if len(shape) == 1 {
		return 1 + float32(rng.NormFloat64())/8
	}
	return float32(rng.NormFloat64() / math.Sqrt(float64(shape[1])))
}
