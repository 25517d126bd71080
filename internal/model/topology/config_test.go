package topology_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
)

func TestFromConfig(t *testing.T) {
	raw, err := os.ReadFile("../../../examples/models/koldun-tiny/config.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := topology.FromConfig(raw, topology.Q40)
	if err != nil {
		t.Fatal(err)
	}
	if got != tiny {
		t.Errorf("shape is %+v, want %+v", got, tiny)
	}
}

const smallConfig = `"hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":128,"max_position_embeddings":256`

func TestParseConfig(t *testing.T) {
	theta := func(f float64) *float64 { return &f }
	llama3 := `"rope_type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4,"original_max_position_embeddings":128`
	scaling := &topology.RopeScaling{Factor: 8, LowFreqFactor: 1, HighFreqFactor: 4, OriginalSeqLen: 128}
	cases := map[string]struct {
		extra    string
		theta    *float64
		scaling  *topology.RopeScaling
		warnings []string
	}{
		"Bare":          {extra: ``},
		"Theta":         {extra: `,"rope_theta":500000.0`, theta: theta(500000)},
		"Scaling":       {extra: `,"rope_theta":1,"rope_scaling":{` + llama3 + `}`, theta: theta(1), scaling: scaling},
		"NullScaling":   {extra: `,"rope_scaling":null`},
		"Default":       {extra: `,"rope_scaling":{"rope_type":"default"}`},
		"Parameters":    {extra: `,"rope_parameters":{"rope_theta":1000000,"rope_type":"default"}`, theta: theta(1000000)},
		"NewScaling":    {extra: `,"rope_parameters":{"rope_theta":1000000,` + llama3 + `}`, theta: theta(1000000), scaling: scaling},
		"FlatWins":      {extra: `,"rope_theta":5,"rope_parameters":{"rope_theta":7}`, theta: theta(5)},
		"Bias":          {extra: `,"attention_bias":true,"mlp_bias":false`, warnings: []string{"attention_bias is true: biases are left out"}},
		"Window":        {extra: `,"sliding_window":128`, warnings: []string{"sliding_window is set: attention reaches over the whole context instead"}},
		"WideWindow":    {extra: `,"sliding_window":4096`},
		"UnusedWindow":  {extra: `,"sliding_window":128,"use_sliding_window":false`},
		"PartialRotary": {extra: `,"partial_rotary_factor":0.5`, warnings: []string{"partial_rotary_factor is not 1: heads rotate as a whole"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := topology.ParseConfig([]byte(`{"model_type":"mistral",` + smallConfig + c.extra + `}`))
			if err != nil {
				t.Fatal(err)
			}
			want := topology.Config{
				Shape:     topology.Shape{Arch: topology.Llama, Dim: 64, HiddenDim: 96, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 16, VocabSize: 128, SeqLen: 256},
				HiddenAct: "silu", RopeTheta: c.theta, RopeScaling: c.scaling, Warnings: c.warnings,
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("config (-want +got):\n%s", d)
			}
		})
	}
}

func TestHostileConfigs(t *testing.T) {
	cases := map[string]struct {
		raw  string
		want string
	}{
		"Empty":       {``, "unexpected end"},
		"Array":       {`[]`, "cannot unmarshal"},
		"Null":        {`null`, `model_type is ""`},
		"TextNumber":  {`{"model_type":"llama","hidden_size":"64"}`, "hidden_size"},
		"Huge":        {`{"model_type":"llama",` + smallConfig + `,"hidden_size":99999999999999999999}`, "hidden_size"},
		"Seq":         {`{"model_type":"llama",` + smallConfig + `,"max_position_embeddings":2000000000}`, "sequence length"},
		"MostVocab":   {`{"model_type":"llama",` + smallConfig + `,"vocab_size":2147483647}`, "vocabulary (vocab_size) is 2147483647"},
		"TooMuch":     {`{"model_type":"llama",` + smallConfig + `,"vocab_size":2147483648}`, "vocab_size is 2147483648, want 1 to 2147483647"},
		"Layers":      {`{"model_type":"llama",` + smallConfig + `,"num_hidden_layers":100000}`, "layers"},
		"HeadDim":     {`{"model_type":"llama",` + smallConfig + `,"head_dim":0}`, "head dim (head_dim) is 0"},
		"OddHeadDim":  {`{"model_type":"llama",` + smallConfig + `,"head_dim":15}`, "head dim is 15"},
		"Indivisible": {`{"model_type":"llama",` + smallConfig + `,"num_attention_heads":6}`, "64 is not a multiple of num_attention_heads 6"},
		"Experts":     {`{"model_type":"llama",` + smallConfig + `,"num_experts":8}`, "8 experts"},
		"Unnamed":     {`{"model_type":"llama",` + smallConfig + `,"rope_scaling":{"factor":2}}`, `rope_type is "unnamed"`},
		"Linear":      {`{"model_type":"llama",` + smallConfig + `,"rope_scaling":{"type":"linear","factor":2}}`, `"linear"`},
		"ScalingText": {`{"model_type":"llama",` + smallConfig + `,"rope_scaling":"x"}`, "rope_scaling"},
		"NoTheta":     {`{"model_type":"llama",` + smallConfig + `,"rope_theta":0}`, "rope_theta is 0"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := topology.ParseConfig([]byte(c.raw))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "cannot use config.json: ") {
				t.Errorf("error is %v, want one with %q", err, c.want)
			}
			if k := fault.KindOf(err); k != fault.Invalid && k != fault.Unsupported {
				t.Errorf("error %v is %s", err, k)
			}
		})
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(`{"model_type":"llama",` + smallConfig + `}`))
	f.Add([]byte(`{"model_type":"qwen3_moe","num_experts":4096,"num_experts_per_tok":1,"moe_intermediate_size":1048576,` + smallConfig + `}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := topology.FromConfig(raw, topology.Q40)
		if err != nil {
			return
		}
		if s.WeightBytes() <= 0 {
			t.Errorf("%+v has %d bytes", s, s.WeightBytes())
		}
		for _, n := range s.Nodes(topology.Q80) {
			p, err := s.Preflight(topology.Request{Nodes: n})
			if err != nil || p.Root().Total() <= 0 || p.Traffic.TotalPerToken < 0 {
				t.Errorf("%+v on %d nodes: %+v, %v", s, n, p, err)
			}
		}
	})
}
