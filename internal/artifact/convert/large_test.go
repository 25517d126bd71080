package convert_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// A largeModel is a Llama that is too large to be made value by value.
type largeModel struct{ dim, hidden, layers, heads, vocab int64 }

// writeLargeModel writes a bf16 model into a folder and returns the number of
// its parameters.
func writeLargeModel(tb testing.TB, dir string, m largeModel) int64 {
	tb.Helper()
	dim, hidden, layers, heads, vocab := m.dim, m.hidden, m.layers, m.heads, m.vocab
	config := map[string]any{
		"model_type": "llama", "hidden_act": "silu", "hidden_size": dim, "intermediate_size": hidden, "num_hidden_layers": layers,
		"num_attention_heads": heads, "num_key_value_heads": heads, "vocab_size": vocab, "max_position_embeddings": 2048,
		"rms_norm_eps": 1e-5, "rope_theta": 10000.0,
	}
	header := map[string]any{}
	var offset, params int64
	add := func(name string, shape ...int64) {
		n := int64(1)
		for _, d := range shape {
			n *= d
		}
		header[name] = map[string]any{"dtype": "BF16", "shape": shape, "data_offsets": []int64{offset, offset + 2*n}}
		offset += 2 * n
		params += n
	}
	add("model.embed_tokens.weight", vocab, dim)
	for l := range layers {
		p := fmt.Sprintf("model.layers.%d.", l)
		for _, x := range []string{"q_proj", "k_proj", "v_proj", "o_proj"} {
			add(p+"self_attn."+x+".weight", dim, dim)
		}
		add(p+"mlp.gate_proj.weight", hidden, dim)
		add(p+"mlp.up_proj.weight", hidden, dim)
		add(p+"mlp.down_proj.weight", dim, hidden)
		add(p+"input_layernorm.weight", dim)
		add(p+"post_attention_layernorm.weight", dim)
	}
	add("model.norm.weight", dim)
	add("lm_head.weight", vocab, dim)

	raw, err := json.Marshal(config)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.json"), raw, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
	h, err := json.Marshal(header)
	if err != nil {
		tb.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		tb.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	block := make([]byte, 1<<20)
	for i := 0; i < len(block); i += 2 {
		binary.LittleEndian.PutUint16(block[i:], uint16(math.Float32bits(float32(rng.NormFloat64()*0.02))>>16))
	}
	_, err = f.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h...))
	for left := offset; err == nil && left > 0; left -= int64(len(block)) {
		_, err = f.Write(block[:min(int64(len(block)), left)])
	}
	if err := errors.Join(err, f.Close()); err != nil {
		tb.Fatal(err)
	}
	return params
}
