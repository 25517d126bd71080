package llama

import (
	"math"

	"github.com/gorizond/koldun/internal/model/formats/dllama"
)

// A rope rotates pairs of values by an angle that grows with the position.
type rope struct {
	freqs  []float32 // one per pair of a head
	halves bool      // pairs are (j, j + head dim / 2), not (2j, 2j + 1)
}

// newRope computes the frequencies theta^(-2j / head dim), stretched as in
// Llama 3.1 if the header has a rope scaling
// (https://github.com/meta-llama/llama-models, apply_scaling).
func newRope(h dllama.Header) rope {
	headDim := h.Shape().HeadDim
	r := rope{freqs: make([]float32, headDim/2), halves: h.Rope() == dllama.RopeHalves}
	for j := range r.freqs {
		exponent := float32(2*j) / float32(headDim)
		f := 1 / float32(math.Pow(float64(h.Theta()), float64(exponent)))
		if s := h.RopeScaling; s != nil && s.Factor != 1 && !r.halves {
			f = stretch(f, *s)
		}
		r.freqs[j] = f
	}
	return r
}

// stretch divides low frequencies by the factor, keeps high ones, and blends
// those between.
func stretch(f float32, s dllama.RopeScaling) float32 {
	factor, low, high, original := float32(s.Factor), float32(s.LowFreqFactor), float32(s.HighFreqFactor), float32(s.OriginalSeqLen)
	wave := 2 * math.Pi / f
	switch {
	case wave < original/high:
		return f
	case wave > original/low:
		return f / factor
	}
	blend := (original/wave - low) / (high - low)
	return (1-blend)*f/factor + blend*f
}

// angles computes cosine and sine of every pair at a position.
func (r rope) angles(position int, cos, sin []float32) {
	for j, f := range r.freqs {
		s, c := math.Sincos(float64(float32(position) * f))
		cos[j], sin[j] = float32(c), float32(s)
	}
}

// turn rotates one head.
func (r rope) turn(head, cos, sin []float32) {
	step, other := 2, 1
	if r.halves {
		step, other = 1, len(r.freqs)
	}
	for j, c := range cos {
		a, b := &head[j*step], &head[j*step+other]
		s := sin[j]
		*a, *b = float32(*a*c)-float32(*b*s), float32(*a*s)+float32(*b*c)
	}
}
