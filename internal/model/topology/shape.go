// Package topology says onto how many nodes a model can be spread and what
// each of them needs. It is pure: it knows the numbers in a model's header and
// nothing of the world.
package topology

import (
	"github.com/gorizond/koldun/internal/fault"
)

// An Arch is a model architecture that distributed-llama runs.
type Arch string

// The architectures. Mistral is Llama with other numbers.
const (
	Llama    Arch = "llama"
	Qwen3    Arch = "qwen3"
	Qwen3MoE Arch = "qwen3_moe"
)

// A Shape is the arithmetic of one model: the numbers of its header.
type Shape struct {
	Arch          Arch      `json:"arch"`
	Dim           int       `json:"dim"`       // width of the residual stream
	HiddenDim     int       `json:"hiddenDim"` // inner width of the dense feed-forward layers
	Layers        int       `json:"layers"`
	Heads         int       `json:"heads"`
	KVHeads       int       `json:"kvHeads"`
	HeadDim       int       `json:"headDim"`
	VocabSize     int       `json:"vocabSize"`
	SeqLen        int       `json:"seqLen"` // longest context in tokens
	Experts       int       `json:"experts,omitempty"`
	ActiveExperts int       `json:"activeExperts,omitempty"`
	MoEHiddenDim  int       `json:"moeHiddenDim,omitempty"` // inner width of one expert
	Weights       FloatType `json:"weights,omitempty"`      // type of the matmul weights
}

// QDim is the width of all query heads together.
func (s Shape) QDim() int { return s.Heads * s.HeadDim }

// KVDim is the width of all key heads together, and of all value heads.
func (s Shape) KVDim() int { return s.KVHeads * s.HeadDim }

// FFDim is the inner width of the feed-forward layers that run: of one expert
// in a mixture of experts, of the dense layer otherwise.
func (s Shape) FFDim() int {
	if s.Experts > 0 {
		return s.MoEHiddenDim
	}
	return s.HiddenDim
}

// QKNorm reports whether queries and keys are normalised per head.
func (s Shape) QKNorm() bool { return s.Arch == Qwen3 || s.Arch == Qwen3MoE }

// Limits of what Validate accepts. They are far above every published model
// and keep every product below in an int64, and the list of tensors small.
const (
	maxDim          = 1 << 20
	maxLayers       = 1 << 12
	maxHeads        = 1 << 14
	maxHeadDim      = 1 << 14
	maxVocab        = 1 << 24
	maxSeqLen       = 1 << 30
	maxExperts      = 1 << 12
	maxLayerExperts = 1 << 16
	maxElements     = 1 << 46
	maxCacheValues  = 1 << 56
)

// Validate reports the first number that no model can have. The error is
// Invalid and names the field and its value.
func (s Shape) Validate() error {
	switch s.Arch {
	case Llama, Qwen3, Qwen3MoE:
	default:
		return fault.Errorf(fault.Unsupported, "architecture %q is not one of llama, qwen3, qwen3_moe", s.Arch)
	}
	for _, f := range []struct {
		name     string
		val      int
		min, max int
	}{
		{"dim (hidden_size)", s.Dim, 1, maxDim},
		{"hidden dim (intermediate_size)", s.HiddenDim, 0, maxDim},
		{"layers (num_hidden_layers)", s.Layers, 1, maxLayers},
		{"heads (num_attention_heads)", s.Heads, 1, maxHeads},
		{"kv heads (num_key_value_heads)", s.KVHeads, 1, maxHeads},
		{"head dim (head_dim)", s.HeadDim, 1, maxHeadDim},
		{"vocabulary (vocab_size)", s.VocabSize, 1, maxVocab},
		{"sequence length (max_position_embeddings)", s.SeqLen, 1, maxSeqLen},
		{"experts (num_experts)", s.Experts, 0, maxExperts},
		{"active experts (num_experts_per_tok)", s.ActiveExperts, 0, s.Experts},
		{"expert hidden dim (moe_intermediate_size)", s.MoEHiddenDim, 0, maxDim},
		{"query width (heads x head dim)", s.QDim(), 1, maxDim},
	} {
		if f.val < f.min || f.val > f.max {
			return fault.Errorf(fault.Invalid, "%s is %d, want %d to %d", f.name, f.val, f.min, f.max)
		}
	}
	return s.validateRelations()
}

func (s Shape) validateRelations() error {
	if s.Heads%s.KVHeads != 0 {
		return fault.Errorf(fault.Invalid, "%d heads cannot share %d kv heads evenly", s.Heads, s.KVHeads)
	}
	if s.HeadDim%2 != 0 {
		return fault.Errorf(fault.Invalid, "head dim is %d, want an even number: positions rotate pairs", s.HeadDim)
	}
	if s.Arch == Qwen3MoE && (s.Experts == 0 || s.ActiveExperts == 0) {
		return fault.Errorf(fault.Invalid, "a mixture of experts has %d experts and %d active ones, want at least 1 of each", s.Experts, s.ActiveExperts)
	}
	if s.Arch != Qwen3MoE && s.Experts != 0 {
		return fault.Errorf(fault.Unsupported, "architecture %s has %d experts, only qwen3_moe may have any", s.Arch, s.Experts)
	}
	if s.FFDim() == 0 {
		return fault.Errorf(fault.Invalid, "the feed-forward layers have width 0")
	}
	if s.Weights.Blocked() {
		if err := s.validateBlocks(); err != nil {
			return err
		}
	}
	if n := s.Layers * max(s.Experts, 1); n > maxLayerExperts {
		return fault.Errorf(fault.Invalid, "%d layers of %d experts are %d, want at most %d", s.Layers, s.Experts, n, maxLayerExperts)
	}
	if n := s.elements(); n > maxElements {
		return fault.Errorf(fault.Invalid, "the model has %.3g weights, want at most %.3g", n, float64(maxElements))
	}
	if n := float64(s.Layers) * float64(s.SeqLen) * float64(s.KVDim()); n > maxCacheValues {
		return fault.Errorf(fault.Invalid, "a full cache has %.3g keys, want at most %.3g", n, float64(maxCacheValues))
	}
	return nil
}

// validateBlocks wants whole blocks in every row of every matrix.
func (s Shape) validateBlocks() error {
	for _, f := range []struct {
		name string
		val  int
	}{
		{"dim (hidden_size)", s.Dim},
		{"query width (heads x head dim)", s.QDim()},
		{"feed-forward width (intermediate_size)", s.FFDim()},
	} {
		if f.val%Block != 0 {
			return fault.Errorf(fault.Unsupported, "%s is %d, weights of type %s need a multiple of %d", f.name, f.val, s.Weights, Block)
		}
	}
	return nil
}

// elements is the number of weights, in floating point so that it cannot
// overflow for numbers not yet validated.
func (s Shape) elements() float64 {
	dim, ff := float64(s.Dim), float64(s.FFDim())
	layer := 2*dim*float64(s.QDim()) + 2*dim*float64(s.KVDim()) + 3*dim*ff*float64(max(s.Experts, 1))
	return 2*dim*float64(s.VocabSize) + layer*float64(s.Layers)
}
