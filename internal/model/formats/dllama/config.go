package dllama

import (
	"github.com/gorizond/koldun/internal/model/topology"
)

// FromConfig returns the header of the model that config.json describes. It
// truncates numbers to integers as distributed-llama's converter does. The
// error is Invalid or Unsupported.
func FromConfig(c topology.Config, weights topology.FloatType) (Header, error) {
	s := c.Shape
	h := Header{
		Arch: s.Arch, Activation: SiLU, Dim: s.Dim, HiddenDim: s.HiddenDim, Layers: s.Layers, Heads: s.Heads,
		KVHeads: s.KVHeads, Weights: weights, SeqLen: s.SeqLen, VocabSize: s.VocabSize,
		Experts: s.Experts, ActiveExperts: s.ActiveExperts,
	}
	if c.HiddenAct == "gelu" {
		h.Activation = GELU
	}
	if c.RopeTheta != nil {
		h.RopeTheta = int(*c.RopeTheta)
	}
	if r := c.RopeScaling; r != nil {
		h.RopeType = RopeLlama3
		h.RopeScaling = &RopeScaling{
			Factor: int(r.Factor), LowFreqFactor: int(r.LowFreqFactor),
			HighFreqFactor: int(r.HighFreqFactor), OriginalSeqLen: int(r.OriginalSeqLen),
		}
	}
	if c.HeadDim != nil {
		h.HeadDim = *c.HeadDim
	}
	if c.NormEps != nil {
		h.NormEpsilon = 5
		if *c.NormEps == 1e-6 {
			h.NormEpsilon = 6
		}
	}
	if c.MoEHidden != nil {
		h.MoEHidden = *c.MoEHidden
	}
	return h, h.Validate()
}
