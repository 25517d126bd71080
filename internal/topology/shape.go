// Package topology says onto how many nodes a model can be spread and what
// each of them needs. It is pure: it knows the numbers in a model's header and
// nothing of the world.
package topology

// An Arch is a model architecture that distributed-llama runs.
type Arch string

// The architectures. Mistral is Llama with other numbers.
const (
	Llama    Arch = "llama"
	Qwen3    Arch = "qwen3"
	Qwen3MoE Arch = "qwen3_moe"
)

// A FloatType is the type of weights or of the buffers between nodes.
type FloatType string

// The float types. Q40 and Q80 are blocks of 32 values with one scale.
const (
	F32 FloatType = "f32"
	F16 FloatType = "f16"
	Q40 FloatType = "q40"
	Q80 FloatType = "q80"
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
