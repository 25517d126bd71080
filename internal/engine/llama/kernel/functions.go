package kernel

import (
	"math"

	"github.com/gorizond/koldun/internal/model/formats/dllama"
)

// AddRounded rounds src to q80 and adds it to dst. distributed-llama passes
// partial results between nodes as q80, and rounds them with a single node as
// well. The lengths must be the same multiple of 32.
func (s *Set) AddRounded(dst, src []float32) { s.addRounded(dst[:len(src)], src) }

// SiLU sets gate to silu(gate) * up, with silu(a) = a / (1 + e^-a). The lengths
// must be the same.
func (s *Set) SiLU(gate, up []float32) { s.silu(gate, up[:len(gate)]) }

// Softmax replaces one or more scores by probabilities.
func (s *Set) Softmax(x []float32) {
	top := x[0]
	for _, v := range x {
		top = max(top, v)
	}
	sum := s.expSum(x, top)
	for i := range x {
		x[i] /= sum
	}
}

func portableAddRounded(dst, src []float32) {
	var raw [dllama.Q80Block]byte
	var back [block]float32
	for i := 0; i < len(src); i += block {
		dllama.EncodeQ80(&raw, (*[block]float32)(src[i:]))
		dllama.DecodeQ80(&back, &raw)
		d := (*[block]float32)(dst[i:])
		for j := range back {
			d[j] += back[j]
		}
	}
}

func portableSiLU(gate, up []float32) {
	for i, a := range gate {
		gate[i] = a / (1 + float32(math.Exp(float64(-a)))) * up[i]
	}
}

// portableExpSum replaces x by e^(x-top) and returns the sum.
func portableExpSum(x []float32, top float32) float32 {
	var sum float32
	for i, v := range x {
		e := float32(math.Exp(float64(v - top)))
		x[i] = e
		sum += e
	}
	return sum
}
