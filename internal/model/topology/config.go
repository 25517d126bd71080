package topology

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/gorizond/koldun/internal/fault"
)

// A Config is what a Hugging Face config.json says about a model, as far as a
// .m file can hold it. Numbers that the file may leave out are nil then.
type Config struct {
	Shape       Shape // without the type of the weights
	HiddenAct   string
	RopeTheta   *float64
	RopeScaling *RopeScaling
	NormEps     *float64
	HeadDim     *int // as stated; Shape has it in any case
	MoEHidden   *int // as stated
	// Warnings name settings that distributed-llama does not know and that
	// may change the model's answers.
	Warnings []string
}

// RopeScaling is the stretching of Llama 3.1.
type RopeScaling struct {
	Factor         float64 `json:"factor"`
	LowFreqFactor  float64 `json:"low_freq_factor"`
	HighFreqFactor float64 `json:"high_freq_factor"`
	OriginalSeqLen float64 `json:"original_max_position_embeddings"`
}

// FromConfig reads config.json and returns the shape of the model it
// describes, with weights of the given type.
func FromConfig(config []byte, weights FloatType) (Shape, error) {
	c, err := ParseConfig(config)
	if err != nil {
		return Shape{}, err
	}
	c.Shape.Weights = weights
	if err := c.Shape.Validate(); err != nil {
		return Shape{}, fmt.Errorf("cannot use config.json: %w", err)
	}
	return c.Shape, nil
}

// modelTypes maps model_type to an architecture.
var modelTypes = map[string]Arch{"llama": Llama, "mistral": Llama, "qwen3": Qwen3, "qwen3_moe": Qwen3MoE}

// rawConfig is the part of config.json that is read.
type rawConfig struct {
	ModelType      string          `json:"model_type"`
	HiddenAct      *string         `json:"hidden_act"`
	Dim            *int            `json:"hidden_size"`
	HiddenDim      *int            `json:"intermediate_size"`
	Layers         *int            `json:"num_hidden_layers"`
	Heads          *int            `json:"num_attention_heads"`
	KVHeads        *int            `json:"num_key_value_heads"`
	SeqLen         *int            `json:"max_position_embeddings"`
	VocabSize      *int            `json:"vocab_size"`
	Experts        *int            `json:"num_experts"`
	ActiveExperts  *int            `json:"num_experts_per_tok"`
	MoEHidden      *int            `json:"moe_intermediate_size"`
	HeadDim        *int            `json:"head_dim"`
	NormEps        *float64        `json:"rms_norm_eps"`
	RopeTheta      *float64        `json:"rope_theta"`
	RopeScaling    json.RawMessage `json:"rope_scaling"`
	RopeParameters json.RawMessage `json:"rope_parameters"`

	AttentionBias   *bool           `json:"attention_bias"`
	MLPBias         *bool           `json:"mlp_bias"`
	SlidingWindow   *int            `json:"sliding_window"`
	UseSliding      *bool           `json:"use_sliding_window"`
	NormTopK        *bool           `json:"norm_topk_prob"`
	PartialRotary   *float64        `json:"partial_rotary_factor"`
	QuantizationCfg json.RawMessage `json:"quantization_config"`
}

// ParseConfig reads config.json. It refuses, as Unsupported or Invalid, what a
// .m file cannot hold, and names the field and its value.
func ParseConfig(config []byte) (Config, error) {
	c, err := parseConfig(config)
	if err != nil {
		return Config{}, fmt.Errorf("cannot use config.json: %w", err)
	}
	return c, nil
}

func parseConfig(config []byte) (Config, error) {
	var raw rawConfig
	if err := json.Unmarshal(config, &raw); err != nil {
		return Config{}, fault.As(fault.Invalid, err)
	}
	arch, ok := modelTypes[raw.ModelType]
	if !ok {
		return Config{}, fault.Errorf(fault.Unsupported, "model_type is %q, want llama, mistral, qwen3 or qwen3_moe", raw.ModelType)
	}
	if len(raw.QuantizationCfg) > 0 && string(raw.QuantizationCfg) != "null" {
		return Config{}, fault.Errorf(fault.Unsupported, "quantization_config is set: only models in f32, f16 or bf16 can be converted")
	}
	c := Config{HeadDim: raw.HeadDim, MoEHidden: raw.MoEHidden, HiddenAct: "silu"}
	c.Shape.Arch = arch
	if err := raw.numbers(&c.Shape); err != nil {
		return Config{}, err
	}
	if raw.HiddenAct != nil {
		c.HiddenAct = *raw.HiddenAct
	}
	if c.HiddenAct != "silu" && c.HiddenAct != "gelu" {
		return Config{}, fault.Errorf(fault.Unsupported, "hidden_act is %q, want silu or gelu", c.HiddenAct)
	}
	if c.NormEps = raw.NormEps; c.NormEps != nil && *c.NormEps != 1e-5 && *c.NormEps != 1e-6 {
		return Config{}, fault.Errorf(fault.Unsupported, "rms_norm_eps is %g, want 1e-05 or 1e-06", *c.NormEps)
	}
	if err := raw.rope(&c); err != nil {
		return Config{}, err
	}
	c.Warnings = raw.warnings(c)
	return c, c.Shape.Validate()
}

// numbers reads the required numbers and resolves the head dim.
func (raw rawConfig) numbers(s *Shape) error {
	for _, f := range []struct {
		name string
		from *int
		to   *int
	}{
		{"hidden_size", raw.Dim, &s.Dim},
		{"intermediate_size", raw.HiddenDim, &s.HiddenDim},
		{"num_hidden_layers", raw.Layers, &s.Layers},
		{"num_attention_heads", raw.Heads, &s.Heads},
		{"num_key_value_heads", raw.KVHeads, &s.KVHeads},
		{"max_position_embeddings", raw.SeqLen, &s.SeqLen},
		{"vocab_size", raw.VocabSize, &s.VocabSize},
	} {
		if f.from == nil {
			return fault.Errorf(fault.Invalid, "%s is missing", f.name)
		}
		if *f.from < 1 || *f.from > math.MaxInt32 {
			return fault.Errorf(fault.Invalid, "%s is %d, want 1 to %d", f.name, *f.from, math.MaxInt32)
		}
		*f.to = *f.from
	}
	optional := func(p *int) int {
		if p == nil {
			return 0
		}
		return *p
	}
	s.Experts, s.ActiveExperts, s.MoEHiddenDim = optional(raw.Experts), optional(raw.ActiveExperts), optional(raw.MoEHidden)
	if raw.HeadDim != nil {
		s.HeadDim = *raw.HeadDim
		return nil
	}
	if s.Dim%s.Heads != 0 {
		return fault.Errorf(fault.Invalid, "hidden_size %d is not a multiple of num_attention_heads %d, and head_dim is missing", s.Dim, s.Heads)
	}
	s.HeadDim = s.Dim / s.Heads
	return nil
}

func (raw rawConfig) warnings(c Config) []string {
	var w []string
	warn := func(wrong bool, text string) {
		if wrong {
			w = append(w, text)
		}
	}
	warn(raw.AttentionBias != nil && *raw.AttentionBias, "attention_bias is true: biases are left out")
	warn(raw.MLPBias != nil && *raw.MLPBias, "mlp_bias is true: biases are left out")
	warn(raw.SlidingWindow != nil && *raw.SlidingWindow < c.Shape.SeqLen && (raw.UseSliding == nil || *raw.UseSliding),
		"sliding_window is set: attention reaches over the whole context instead")
	warn(c.Shape.Experts > 0 && (raw.NormTopK == nil || !*raw.NormTopK), "norm_topk_prob is not true: expert weights are normalised all the same")
	warn(raw.PartialRotary != nil && *raw.PartialRotary != 1, "partial_rotary_factor is not 1: heads rotate as a whole")
	warn(c.HiddenAct == "gelu", "hidden_act is gelu: distributed-llama computes silu all the same")
	return w
}
