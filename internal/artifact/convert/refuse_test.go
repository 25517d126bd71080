package convert_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/convert"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/safetensors"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
)

func TestRefusals(t *testing.T) {
	const q0 = "model.layers.0.self_attn.q_proj.weight"
	set := func(key string, v any) func(*testModel, *memStore) {
		return func(m *testModel, _ *memStore) { m.config[key] = v }
	}
	cases := map[string]struct {
		arch   topology.Arch
		change func(m *testModel, s *memStore)
		after  func(t *testing.T, s *memStore) // on the stored files
		kind   fault.Kind
		want   []string
	}{
		"Architecture":  {change: set("model_type", "qwen2"), kind: fault.Unsupported, want: []string{"config.json", `model_type is "qwen2"`}},
		"NoKVHeads":     {change: set("num_key_value_heads", nil), kind: fault.Invalid, want: []string{"num_key_value_heads is missing"}},
		"Yarn":          {change: set("rope_scaling", map[string]any{"rope_type": "yarn", "factor": 4}), kind: fault.Unsupported, want: []string{"rope_scaling.rope_type", `"yarn"`}},
		"LowFactor":     {change: set("rope_scaling", map[string]any{"rope_type": "llama3", "factor": 8}), kind: fault.Invalid, want: []string{"rope_scaling.low_freq_factor is missing"}},
		"FractionScale": {change: set("rope_scaling", map[string]any{"rope_type": "llama3", "factor": 8.5, "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 8192}), kind: fault.Unsupported, want: []string{"rope_scaling.factor is 8.5"}},
		"Theta":         {change: set("rope_theta", 1e10), kind: fault.Unsupported, want: []string{"rope_theta is 1e+10"}},
		"Epsilon":       {change: set("rms_norm_eps", 1e-8), kind: fault.Unsupported, want: []string{"rms_norm_eps is 1e-08"}},
		"Activation":    {change: set("hidden_act", "relu"), kind: fault.Unsupported, want: []string{`hidden_act is "relu"`}},
		"Quantised":     {change: set("quantization_config", map[string]any{"bits": 4}), kind: fault.Unsupported, want: []string{"quantization_config"}},
		"NegativeDim":   {change: set("hidden_size", -64), kind: fault.Invalid, want: []string{"hidden_size is -64"}},
		"HugeDim":       {change: set("hidden_size", 1<<30), kind: fault.Invalid, want: []string{"dim (hidden_size) is 1073741824"}},
		"OddBlocks":     {change: set("intermediate_size", 100), kind: fault.Unsupported, want: []string{"feed-forward width", "100", "multiple of 32"}},
		"WrongShape":    {change: set("intermediate_size", 128), kind: fault.Invalid, want: []string{"mlp.gate_proj.weight", "model-00002-of-00002.safetensors", "[96 64]", "[128 64]"}},
		"MissingTensor": {change: func(m *testModel, _ *memStore) { m.remove(q0) }, kind: fault.Invalid, want: []string{q0, "missing"}},
		"MissingLayer":  {change: set("num_hidden_layers", 3), kind: fault.Invalid, want: []string{"model.layers.2.self_attn.q_proj.weight", "missing"}},
		"DType": {change: func(m *testModel, _ *memStore) {
			x := m.tensor(q0)
			x.dtype, x.raw = "F8_E4M3", x.raw[:len(x.raw)/2]
		}, kind: fault.Unsupported, want: []string{q0, "dtype F8_E4M3", "F32, F16 or BF16"}},
		"NaN": {change: func(m *testModel, _ *memStore) {
			x := m.tensor(q0) // row 9 of the first head, of 16 rows of 64
			binary.LittleEndian.PutUint16(x.raw[2*(9*64+5):], 0x7fc0)
		}, kind: fault.Invalid, want: []string{q0, "row 9, column 5", "NaN"}},
		"InfiniteNorm": {change: func(m *testModel, _ *memStore) {
			binary.LittleEndian.PutUint16(m.tensor("model.norm.weight").raw[2*7:], 0xff80)
		}, kind: fault.Invalid, want: []string{"model.norm.weight", "row 0, column 7", "-Inf"}},
		"NoConfig":  {after: func(_ *testing.T, s *memStore) { delete(s.objects, "config.json") }, kind: fault.NotFound, want: []string{`no file "config.json"`}},
		"NotJSON":   {after: func(_ *testing.T, s *memStore) { s.set("config.json", []byte("<html>")) }, kind: fault.Invalid, want: []string{"config.json", "invalid character"}},
		"HugeJSON":  {after: func(_ *testing.T, s *memStore) { s.set("config.json", make([]byte, 2<<20)) }, kind: fault.Unsupported, want: []string{"config.json", "2097152 bytes"}},
		"NoWeights": {after: func(_ *testing.T, s *memStore) { removeWeights(s) }, kind: fault.NotFound, want: []string{"no *.safetensors"}},
		"Truncated": {after: func(_ *testing.T, s *memStore) {
			b := s.get("model-00001-of-00002.safetensors")
			s.set("model-00001-of-00002.safetensors", b[:len(b)-10])
		}, kind: fault.Corrupt, want: []string{"model-00001-of-00002.safetensors", "truncated"}},
		"EmptyFile": {after: func(_ *testing.T, s *memStore) { s.set("model-00001-of-00002.safetensors", nil) }, kind: fault.Corrupt, want: []string{"model-00001-of-00002.safetensors", "0 bytes"}},
		"MissingShard": {after: func(_ *testing.T, s *memStore) {
			s.set("model.safetensors.index.json", []byte(`{"weight_map":{"a":"model-00003-of-00003.safetensors"}}`))
		}, kind: fault.NotFound, want: []string{"model-00003-of-00003.safetensors"}},
		"TwoSources": {after: func(_ *testing.T, s *memStore) {
			s.set("z.safetensors", s.get("model-00001-of-00002.safetensors"))
		}, kind: fault.Invalid, want: []string{"model-00001-of-00002.safetensors", "z.safetensors", "which one counts"}},
		"QwenScaling": {arch: topology.Qwen3, change: set("rope_scaling", map[string]any{"rope_type": "llama3", "factor": 8}), kind: fault.Unsupported, want: []string{"llama3", "qwen3"}},
		"NoExperts":   {arch: topology.Qwen3MoE, change: set("num_experts", 0), kind: fault.Invalid, want: []string{"active experts (num_experts_per_tok) is 2"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.arch == "" {
				c.arch = topology.Llama
			}
			m := makeModel(c.arch, safetensors.BF16, false)
			if c.change != nil {
				c.change(m, nil)
			}
			from, to := m.store(t, 2), newMemStore()
			if c.after != nil {
				c.after(t, from)
			}
			_, err := convert.Run(context.Background(), convert.Config{From: from, To: to, Name: "m", Weights: topology.Q40, Only: convert.Model})
			if !fault.Is(err, c.kind) {
				t.Fatalf("error is %v (%s), want %s", err, fault.KindOf(err), c.kind)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q does not name %q", err, w)
				}
			}
			if len(to.objects) > 0 || len(to.uploads) > 0 {
				t.Errorf("the target holds %v and %d unfinished uploads", to.names(), len(to.uploads))
			}
		})
	}
}

// TestRefusedTemplates converts tokenizers whose chat template does not work.
func TestRefusedTemplates(t *testing.T) {
	for name, c := range map[string]struct{ template, says string }{
		"Syntax":       {"\n{{ x", "line 2"},
		"Construct":    {"{% include 'x' %}", `tag "include"`},
		"LosesMessage": {"{{ messages[0].content }}", "the answer of the assistant"},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := loadStore(t, "testdata/tok_in/llama3_fast"), newMemStore()
			raw, err := json.Marshal(map[string]string{"tokenizer_class": "PreTrainedTokenizerFast", "chat_template": c.template})
			if err != nil {
				t.Fatal(err)
			}
			from.set("tokenizer_config.json", raw)
			_, err = convert.Run(context.Background(), convert.Config{From: from, To: to, Name: "m", Only: convert.Tokenizer})
			if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("err = %v, want Unsupported with %q", err, c.says)
			}
			if len(to.objects) > 0 {
				t.Errorf("the target holds %v", to.names())
			}
		})
	}
}

func removeWeights(s *memStore) {
	for _, name := range s.names() {
		if strings.HasSuffix(name, ".safetensors") {
			delete(s.objects, name)
		}
	}
}

func TestRefusedConfigs(t *testing.T) {
	from, to := makeModel(topology.Llama, safetensors.F32, true).store(t, 1), newMemStore()
	good := convert.Config{From: from, To: to, Name: "m", Weights: topology.Q40, Only: convert.Model}
	cases := map[string]func(*convert.Config){
		"NoSource":  func(c *convert.Config) { c.From = nil },
		"NoTarget":  func(c *convert.Config) { c.To = nil },
		"NoName":    func(c *convert.Config) { c.Name = "" },
		"PathName":  func(c *convert.Config) { c.Name = "../m" },
		"NoWeights": func(c *convert.Config) { c.Weights = "" },
		"BadWeight": func(c *convert.Config) { c.Weights = "q41" },
		"BadPart":   func(c *convert.Config) { c.Only = "weights" },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			c := good
			change(&c)
			if _, err := convert.Run(context.Background(), c); !fault.Is(err, fault.Invalid) {
				t.Errorf("error is %v, want an Invalid one", err)
			}
		})
	}
}

func TestEmptySource(t *testing.T) {
	_, err := convert.Run(context.Background(), convert.Config{From: newMemStore(), To: newMemStore(), Name: "m", Weights: topology.Q40})
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("error is %v, want NotFound", err)
	}
}

// TestFailureAfterOld replaces a model by one that fails half way: the old one
// stays as long as nothing of it was touched.
func TestFailureAfterOld(t *testing.T) {
	to := newMemStore()
	cfg := convert.Config{From: makeModel(topology.Llama, safetensors.F32, true).store(t, 1), To: to, Name: "m", Weights: topology.Q40, Only: convert.Model}
	old := run(t, cfg)
	m := makeModel(topology.Llama, safetensors.F32, false)
	binary.LittleEndian.PutUint32(m.tensor("lm_head.weight").raw, math.Float32bits(float32(math.NaN())))
	cfg.From = m.store(t, 1)
	if _, err := convert.Run(context.Background(), cfg); !fault.Is(err, fault.Invalid) {
		t.Fatalf("error is %v, want an Invalid one", err)
	}
	if got := to.names(); !slices.Equal(got, []string{names.ModelFile("m", "q40"), names.Manifest}) {
		t.Fatalf("the target holds %v", got)
	}
	raw, err := manifest.Decode(to.get(names.Manifest))
	if err != nil || !raw.Origin.Equal(old.Origin) {
		t.Errorf("the old manifest is gone: %+v, %v", raw, err)
	}
	checkFile(t, to, raw, names.ModelFile("m", "q40"))
}
