// Package dllama reads and writes the .m model files of distributed-llama: a
// header of numbers, then the weights without names or gaps, in an order that
// the header implies.
//
// All integers are little-endian int32. The format has no checksum; the only
// check on a file is that its size is exactly what the header implies.
package dllama

import (
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
)

// An Activation is the function inside the feed-forward layers.
type Activation int

// The activations, by their code in the file.
const (
	GELU Activation = 0
	SiLU Activation = 1
)

// A RopeType selects the pairs of values of a head that rotate together.
type RopeType int

// The rope types, by their code in the file.
const (
	RopePairs  RopeType = 0 // neighbours (2j, 2j+1): Llama
	RopeHalves RopeType = 1 // halves (j, j + head dim / 2): Qwen3
	RopeLlama3 RopeType = 2 // neighbours, with the frequencies of Llama 3.1
)

// A RopeScaling stretches the frequencies as Llama 3.1 does.
type RopeScaling struct {
	Factor         int
	LowFreqFactor  int
	HighFreqFactor int
	OriginalSeqLen int
}

// A Header holds the numbers of a .m file. Optional numbers are 0 if the file
// does not state them; the methods return their defaults.
type Header struct {
	Arch          topology.Arch
	Activation    Activation
	Dim           int
	HiddenDim     int
	Layers        int
	Heads         int
	KVHeads       int
	Weights       topology.FloatType
	SeqLen        int
	VocabSize     int
	Experts       int
	ActiveExperts int

	RopeTheta   int          // 0: not stated, 10000
	RopeScaling *RopeScaling // nil: none
	RopeType    RopeType     // stated only together with RopeScaling
	HeadDim     int          // 0: not stated, Dim / Heads
	NormEpsilon int          // 5 or 6: 1e-5 or 1e-6; 0: not stated, 1e-5
	MoEHidden   int          // inner width of one expert; 0: not stated

	// Size is the length of the header in bytes, which is the offset of the
	// weights. It is 0 if the header was not read from a file, and then means
	// the length that Encode writes.
	Size int
}

// Shape returns the header as a topology.Shape, with the defaults of optional
// numbers.
func (h Header) Shape() topology.Shape {
	hd := h.HeadDim
	if hd == 0 && h.Heads > 0 {
		hd = h.Dim / h.Heads
	}
	return topology.Shape{
		Arch: h.Arch, Dim: h.Dim, HiddenDim: h.HiddenDim, Layers: h.Layers, Heads: h.Heads, KVHeads: h.KVHeads,
		HeadDim: hd, VocabSize: h.VocabSize, SeqLen: h.SeqLen, Experts: h.Experts, ActiveExperts: h.ActiveExperts,
		MoEHiddenDim: h.MoEHidden, Weights: h.Weights,
	}
}

// Theta returns the base of the rope frequencies.
func (h Header) Theta() float32 {
	if h.RopeTheta == 0 {
		return 10000
	}
	return float32(h.RopeTheta)
}

// Epsilon returns the number that the norms add to the mean square.
func (h Header) Epsilon() float32 {
	if h.NormEpsilon == 6 {
		return 1e-6
	}
	return 1e-5
}

// Rope returns how positions rotate queries and keys.
func (h Header) Rope() RopeType {
	if h.Arch == topology.Qwen3 || h.Arch == topology.Qwen3MoE {
		return RopeHalves
	}
	return h.RopeType
}

// Validate reports the first invalid number. The error is Invalid or
// Unsupported.
func (h Header) Validate() error {
	if _, err := topology.ParseFloatType(string(h.Weights)); err != nil {
		return err
	}
	if err := h.Shape().Validate(); err != nil {
		return err
	}
	if h.Activation != GELU && h.Activation != SiLU {
		return fault.Errorf(fault.Unsupported, "hidden activation is %d, want 0 (gelu) or 1 (silu)", h.Activation)
	}
	if h.NormEpsilon != 0 && h.NormEpsilon != 5 && h.NormEpsilon != 6 {
		return fault.Errorf(fault.Unsupported, "norm epsilon is %d, want 5 (1e-5) or 6 (1e-6)", h.NormEpsilon)
	}
	if h.RopeType < RopePairs || h.RopeType > RopeLlama3 {
		return fault.Errorf(fault.Unsupported, "rope type is %d, want 0, 1 or 2", h.RopeType)
	}
	if h.RopeTheta < 0 {
		return fault.Errorf(fault.Invalid, "rope theta is %d", h.RopeTheta)
	}
	if s := h.RopeScaling; s != nil && (s.Factor < 1 || s.LowFreqFactor < 0 || s.HighFreqFactor < 0 || s.OriginalSeqLen < 0) {
		return fault.Errorf(fault.Invalid, "rope scaling has factor %d, low and high frequency factors %d and %d, original length %d", s.Factor, s.LowFreqFactor, s.HighFreqFactor, s.OriginalSeqLen)
	}
	return nil
}
