package topology_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
)

func TestFloatTypes(t *testing.T) {
	for _, c := range []struct {
		t       topology.FloatType
		bytes   int64 // of 70 values
		blocked bool
		sync    topology.FloatType // empty: weights of the type do not run
	}{
		{topology.F32, 280, false, topology.F32},
		{topology.F16, 140, false, ""},
		{topology.Q40, 36, true, topology.Q80},
		{topology.Q80, 68, true, ""},
	} {
		if got, err := topology.ParseFloatType(string(c.t)); err != nil || got != c.t {
			t.Errorf("ParseFloatType(%q) = %q, %v", c.t, got, err)
		}
		if got := c.t.Bytes(70); got != c.bytes || c.t.Blocked() != c.blocked {
			t.Errorf("70 values of %s take %d bytes, want %d", c.t, got, c.bytes)
		}
		if got, err := topology.SyncFor(c.t); got != c.sync || (err == nil) != (c.sync != "") || err != nil && !fault.Is(err, fault.Unsupported) {
			t.Errorf("SyncFor(%s) = %q, %v, want %q", c.t, got, err, c.sync)
		}
	}
	if _, err := topology.ParseFloatType("q2"); !fault.Is(err, fault.Invalid) || topology.FloatType("q2").Bytes(64) != 0 {
		t.Errorf("q2 is known: %v", err)
	}
}

func TestLoadingMemory(t *testing.T) {
	// The largest slice is the feed-forward layer of tiny, and the vocabulary of
	// wide: q40 takes 18 bytes for 32 values.
	wide := tiny
	wide.VocabSize, wide.Weights = 2048, topology.F32
	for name, c := range map[string]struct {
		shape topology.Shape
		nodes int
		want  int64
	}{
		"Vocabulary": {tiny, 1, 128*1024/32*18 + 64<<20},
		"Spread":     {tiny, 4, 128*1024/4/32*18 + 64<<20},
		"F32":        {wide, 2, 128*2048/2*4 + 64<<20},
		"Layer":      {published["Llama1B"], 1, 2048*128256/32*18 + 64<<20},
	} {
		if got := c.shape.LoadingMemory(c.nodes); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
	deep := tiny
	deep.HiddenDim = 4096
	if got, want := deep.LoadingMemory(1), int64(128*4096/32*18+64<<20); got != want {
		t.Errorf("feed-forward: %d bytes, want %d", got, want)
	}
}

// TestValidateLimits takes each number just inside of its limit, and just
// outside.
func TestValidateLimits(t *testing.T) {
	moe := published["Qwen30BA3B"]
	f32 := topology.Shape{Arch: topology.Llama, Dim: 64, HiddenDim: 64, Layers: 1, Heads: 2, KVHeads: 2, HeadDim: 32, VocabSize: 64, SeqLen: 64, Weights: topology.F32}
	cases := map[string]struct {
		from    topology.Shape
		inside  func(*topology.Shape)
		outside func(*topology.Shape)
		want    string
	}{
		"Dim":        {f32, func(s *topology.Shape) { s.Dim = 1 << 20 }, func(s *topology.Shape) { s.Dim = 1<<20 + 1 }, "hidden_size"},
		"NoDim":      {f32, func(s *topology.Shape) { s.Dim = 1 }, func(s *topology.Shape) { s.Dim = 0 }, "hidden_size"},
		"HiddenDim":  {f32, func(s *topology.Shape) { s.HiddenDim = 1 << 20 }, func(s *topology.Shape) { s.HiddenDim = 1<<20 + 1 }, "intermediate_size"},
		"Layers":     {f32, func(s *topology.Shape) { s.Layers = 1 << 12 }, func(s *topology.Shape) { s.Layers = 1<<12 + 1 }, "num_hidden_layers"},
		"Vocabulary": {f32, func(s *topology.Shape) { s.VocabSize = 1 << 24 }, func(s *topology.Shape) { s.VocabSize = 1<<24 + 1 }, "vocab_size"},
		"SeqLen":     {f32, func(s *topology.Shape) { s.SeqLen = 1 << 30 }, func(s *topology.Shape) { s.SeqLen = 1<<30 + 1 }, "max_position_embeddings"},
		"HeadDim":    {f32, func(s *topology.Shape) { s.HeadDim = 1 << 14 }, func(s *topology.Shape) { s.HeadDim = 1<<14 + 2 }, "head_dim"},
		"OddHeadDim": {f32, func(s *topology.Shape) { s.HeadDim = 2 }, func(s *topology.Shape) { s.HeadDim = 3 }, "even number"},
		"Sharing":    {f32, func(s *topology.Shape) { s.KVHeads = 1 }, func(s *topology.Shape) { s.Heads, s.KVHeads = 3, 2 }, "cannot share"},
		"FFDim":      {f32, func(s *topology.Shape) { s.HiddenDim = 1 }, func(s *topology.Shape) { s.HiddenDim = 0 }, "width 0"},
		"Arch":       {f32, func(s *topology.Shape) { s.Arch = topology.Qwen3 }, func(s *topology.Shape) { s.Arch = "gpt" }, `"gpt"`},
		"Dense":      {f32, func(s *topology.Shape) {}, func(s *topology.Shape) { s.Experts, s.ActiveExperts, s.MoEHiddenDim = 2, 1, 32 }, "only qwen3_moe"},
		"Experts":    {moe, func(s *topology.Shape) { s.ActiveExperts = 1 }, func(s *topology.Shape) { s.ActiveExperts = 0 }, "at least 1 of each"},
		"NoExperts":  {moe, func(s *topology.Shape) { s.Experts = 8 }, func(s *topology.Shape) { s.Experts, s.ActiveExperts = 0, 0 }, "at least 1 of each"},
		"TooActive":  {moe, func(s *topology.Shape) { s.ActiveExperts = 128 }, func(s *topology.Shape) { s.ActiveExperts = 129 }, "num_experts_per_tok"},
		"AllExperts": {moe, func(s *topology.Shape) { s.Layers = 512 }, func(s *topology.Shape) { s.Layers = 513 }, "layers of 128 experts"},
		"Elements": {f32, func(s *topology.Shape) { s.Dim, s.Layers, s.HiddenDim = 1<<17, 16, 1<<17 },
			func(s *topology.Shape) { s.Dim, s.Layers, s.HiddenDim = 1<<20, 64, 1<<20 }, "weights, want at most"},
		// 2^20 by 2^20 for each of queries, output, keys and values (half as wide)
		// and three of the feed-forward part, in 64 layers; embedding and logits: 2^45.
		"CountedElements": {f32, func(s *topology.Shape) {},
			func(s *topology.Shape) {
				s.Dim, s.HiddenDim, s.Layers, s.VocabSize = 1<<20, 1<<20, 64, 1<<24
				s.Heads, s.KVHeads, s.HeadDim = 64, 32, 1<<14
			}, fmt.Sprintf("%.3g weights", float64((2+1+3)*64<<40+1<<45))},
		"Cache": {f32, func(s *topology.Shape) { s.SeqLen, s.Layers = 1<<30, 1<<12 },
			func(s *topology.Shape) {
				s.SeqLen, s.Layers, s.KVHeads, s.Heads, s.HeadDim = 1<<30, 1<<12, 1<<6, 1<<6, 1<<10
			}, "full cache"},
		"BlockDim":   {tiny, func(s *topology.Shape) { s.Dim = 96 }, func(s *topology.Shape) { s.Dim = 100 }, "hidden_size"},
		"BlockQuery": {tiny, func(s *topology.Shape) { s.Heads, s.KVHeads = 4, 2 }, func(s *topology.Shape) { s.Heads, s.KVHeads = 3, 3 }, "query width"},
		"BlockFF":    {tiny, func(s *topology.Shape) { s.HiddenDim = 352 }, func(s *topology.Shape) { s.HiddenDim = 353 }, "feed-forward width"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in, out := c.from, c.from
			c.inside(&in)
			c.outside(&out)
			if err := in.Validate(); err != nil {
				t.Errorf("%+v is refused: %v", in, err)
			}
			err := out.Validate()
			if err == nil || !strings.Contains(err.Error(), c.want) || !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Unsupported) {
				t.Errorf("%+v gets %v, want an error with %q", out, err, c.want)
			}
		})
	}
}

// TestConfigValues takes values just inside of what config.json may hold, and
// just outside.
func TestConfigValues(t *testing.T) {
	config := func(arch, extra string) []byte {
		return []byte(`{"model_type":"` + arch + `",` + smallConfig + extra + `}`)
	}
	llama3 := `"rope_scaling":{"rope_type":"llama3","factor":%s,"low_freq_factor":1,"high_freq_factor":4,"original_max_position_embeddings":128}`
	for name, extra := range map[string]string{
		"Epsilon5": `,"rms_norm_eps":1e-5`, "Epsilon6": `,"rms_norm_eps":1e-6`, "Silu": `,"hidden_act":"silu"`, "Gelu": `,"hidden_act":"gelu"`,
		"Theta": fmt.Sprintf(`,"rope_theta":%d`, math.MaxInt32), "ThetaOne": `,"rope_theta":1`, "NoQuantization": `,"quantization_config":null`,
		"Factor": "," + fmt.Sprintf(llama3, "1"), "FactorMost": "," + fmt.Sprintf(llama3, "2147483647"), "Rotary": `,"partial_rotary_factor":1`, "OneLayer": `,"num_hidden_layers":1`,
	} {
		if _, err := topology.ParseConfig(config("llama", extra)); err != nil {
			t.Errorf("%s is refused: %v", name, err)
		}
	}
	for name, c := range map[string]struct{ arch, extra, want string }{
		"Quantized":    {"llama", `,"quantization_config":{"bits":4}`, "quantization_config is set"},
		"Activation":   {"llama", `,"hidden_act":"relu"`, `hidden_act is "relu"`},
		"Epsilon":      {"llama", `,"rms_norm_eps":1e-4`, "rms_norm_eps is 0.0001"},
		"NoLayers":     {"llama", `,"num_hidden_layers":null`, ""},
		"Negative":     {"llama", `,"hidden_size":0`, "hidden_size is 0"},
		"TooLarge":     {"llama", `,"vocab_size":2147483648`, "vocab_size is 2147483648"},
		"Theta":        {"llama", `,"rope_theta":2147483648`, "rope_theta"},
		"QwenScaling":  {"qwen3", "," + fmt.Sprintf(llama3, "8"), "ignores for architecture qwen3"},
		"NoFactor":     {"llama", "," + fmt.Sprintf(llama3, "null"), "factor is missing"},
		"HalfFactor":   {"llama", "," + fmt.Sprintf(llama3, "1.5"), "factor is 1.5"},
		"ZeroFactor":   {"llama", "," + fmt.Sprintf(llama3, "0"), "factor is 0"},
		"LargeFactor":  {"llama", "," + fmt.Sprintf(llama3, "2147483648"), "factor is 2.147483648e+09"},
		"MissingField": {"llama", `,"hidden_size":null`, ""},
	} {
		if c.want == "" { // a later null leaves the first value
			continue
		}
		if _, err := topology.ParseConfig(config(c.arch, c.extra)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
	if _, err := topology.ParseConfig([]byte(`{"model_type":"llama"}`)); err == nil || !strings.Contains(err.Error(), "hidden_size is missing") {
		t.Errorf("a config without numbers: %v", err)
	}
	if _, err := topology.FromConfig([]byte("{"), topology.Q40); err == nil {
		t.Error("half a config is read")
	}
	if _, err := topology.FromConfig([]byte(`{"model_type":"llama",`+smallConfig+`,"intermediate_size":97}`), topology.Q40); err == nil || !strings.Contains(err.Error(), "97") {
		t.Errorf("a width of 97 in blocks: %v", err)
	}
	moe := `,"num_experts":2,"num_experts_per_tok":1,"moe_intermediate_size":32`
	for extra, want := range map[string]int{`,"norm_topk_prob":true`: 0, `,"norm_topk_prob":false`: 1, "": 1} {
		if c, err := topology.ParseConfig(config("qwen3_moe", moe+extra)); err != nil || len(c.Warnings) != want {
			t.Errorf("norm_topk_prob %q: %q, %v", extra, c.Warnings, err)
		}
	}
	if c, err := topology.ParseConfig(config("llama", `,"sliding_window":256`)); err != nil || len(c.Warnings) != 0 {
		t.Errorf("a window of the whole context: %q, %v", c.Warnings, err)
	}
	if c, err := topology.ParseConfig(config("llama", `,"mlp_bias":true,"hidden_act":"gelu"`)); err != nil || len(c.Warnings) != 2 {
		t.Errorf("biases: %q, %v", c.Warnings, err)
	}
}

// distributed-llama has no f32 kernel for a model with experts: the root aborts.
func TestExpertsNeedQ40(t *testing.T) {
	moe := published["Qwen30BA3B"]
	moe.Weights = topology.F32
	if _, err := moe.Preflight(topology.Request{Nodes: 2, SeqLen: 64}); !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "convert it to q40") {
		t.Errorf("f32 gets %v", err)
	}
	moe.Weights = topology.Q40
	if _, err := moe.Preflight(topology.Request{Nodes: 2, SeqLen: 64}); err != nil {
		t.Errorf("q40 gets %v", err)
	}
}
