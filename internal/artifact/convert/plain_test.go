package convert_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/convert"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/formats/safetensors"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
)

// plainConvert writes the whole file in memory, tensor by tensor, as the
// description of the format says it.
func plainConvert(m *testModel, weights topology.FloatType) []byte {
	c := func(key string) int {
		v, _ := m.config[key].(int)
		return v
	}
	code := map[topology.FloatType]int{topology.F32: 0, topology.F16: 1, topology.Q40: 2, topology.Q80: 3}[weights]
	arch := map[string]int{"llama": 0xABCD00, "qwen3": 0xABCD01, "qwen3_moe": 0xABCD02}[m.config["model_type"].(string)]
	pairs := []int{0, 0, 1, arch, 11, 1, 2, c("hidden_size"), 3, c("intermediate_size"), 4, c("num_hidden_layers"), 5, c("num_attention_heads"),
		6, c("num_key_value_heads"), 13, code, 10, c("max_position_embeddings"), 9, c("vocab_size"), 7, c("num_experts"), 8, c("num_experts_per_tok"),
		12, 10000, 19, c("head_dim"), 20, 6}
	if c("moe_intermediate_size") > 0 {
		pairs = append(pairs, 21, c("moe_intermediate_size"))
	}
	out := []byte{0xcd, 0xab, 0x00, 0x0a}
	out = binary.LittleEndian.AppendUint32(out, uint32(8+4*len(pairs)))
	for _, p := range pairs {
		out = binary.LittleEndian.AppendUint32(out, uint32(p))
	}
	put := func(name string, t topology.FloatType, heads int) {
		x := m.tensor(name)
		v := x.values()
		if heads > 0 {
			cols := x.shape[1]
			hd := x.shape[0] / heads
			moved := make([]float32, len(v))
			for h := range heads {
				for j := range hd / 2 {
					copy(moved[(h*hd+2*j)*cols:], v[(h*hd+j)*cols:(h*hd+j+1)*cols])
					copy(moved[(h*hd+2*j+1)*cols:], v[(h*hd+hd/2+j)*cols:(h*hd+hd/2+j+1)*cols])
				}
			}
			v = moved
		}
		raw := make([]byte, t.Bytes(int64(len(v))))
		dllama.Encode(t, raw, v)
		out = append(out, raw...)
	}
	qHeads, kHeads := 0, 0
	if m.config["model_type"] == "llama" {
		qHeads, kHeads = c("num_attention_heads"), c("num_key_value_heads")
	}
	put("model.embed_tokens.weight", topology.F32, 0)
	for l := range c("num_hidden_layers") {
		p := fmt.Sprintf("model.layers.%d.", l)
		put(p+"self_attn.q_proj.weight", weights, qHeads)
		put(p+"self_attn.k_proj.weight", weights, kHeads)
		put(p+"self_attn.v_proj.weight", weights, 0)
		put(p+"self_attn.o_proj.weight", weights, 0)
		blocks := []string{"mlp."}
		if n := c("num_experts"); n > 0 {
			put(p+"mlp.gate.weight", topology.F32, 0)
			blocks = nil
			for e := range n {
				blocks = append(blocks, fmt.Sprintf("mlp.experts.%d.", e))
			}
		}
		for _, b := range blocks {
			put(p+b+"gate_proj.weight", weights, 0)
			put(p+b+"down_proj.weight", weights, 0)
			put(p+b+"up_proj.weight", weights, 0)
		}
		if m.config["model_type"] != "llama" {
			put(p+"self_attn.q_norm.weight", topology.F32, 0)
			put(p+"self_attn.k_norm.weight", topology.F32, 0)
		}
		put(p+"input_layernorm.weight", topology.F32, 0)
		put(p+"post_attention_layernorm.weight", topology.F32, 0)
	}
	put("model.norm.weight", topology.F32, 0)
	if m.tensor("lm_head.weight") != nil {
		put("lm_head.weight", weights, 0)
		return out
	}
	put("model.embed_tokens.weight", weights, 0)
	return out
}

func TestEveryKind(t *testing.T) {
	for _, arch := range []topology.Arch{topology.Llama, topology.Qwen3, topology.Qwen3MoE} {
		for _, dtype := range []safetensors.DType{safetensors.F32, safetensors.F16, safetensors.BF16} {
			for _, weights := range []topology.FloatType{topology.F32, topology.F16, topology.Q40, topology.Q80} {
				t.Run(fmt.Sprintf("%s/%s/%s", arch, dtype, weights), func(t *testing.T) {
					m := makeModel(arch, dtype, dtype == safetensors.BF16)
					want := plainConvert(m, weights)
					from := m.store(t, 3)
					for _, part := range []int64{0, 997, 8192} {
						to := newMemStore()
						got := run(t, convert.Config{From: from, To: to, Name: "m", Weights: weights, Only: convert.Model, PartSize: part, Workers: 3})
						if !bytes.Equal(checkFile(t, to, got, names.ModelFile("m", string(weights))), want) {
							t.Fatalf("with parts of %d bytes the file differs", part)
						}
					}
				})
			}
		}
	}
}
