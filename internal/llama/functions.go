package llama

import (
	"math"

	"github.com/gorizond/koldun/internal/formats/dllama"
	"github.com/gorizond/koldun/internal/llama/kernel"
)

// rmsNorm scales x to a mean square of 1, multiplies it by weight and writes
// the result to dst.
func rmsNorm(k *kernel.Set, dst, x, weight []float32, epsilon float32) {
	mean := k.Dot(x, x)/float32(len(x)) + epsilon
	scale := float32(1 / math.Sqrt(float64(mean)))
	for i, v := range x {
		dst[i] = weight[i] * (v * scale)
	}
}

// softmax replaces scores by probabilities.
func softmax(x []float32) {
	top := x[0]
	for _, v := range x {
		top = max(top, v)
	}
	var sum float32
	for i, v := range x {
		e := float32(math.Exp(float64(v - top)))
		x[i] = e
		sum += e
	}
	for i := range x {
		x[i] /= sum
	}
}

// gated writes silu(gate) * up to gate, with silu(a) = a / (1 + e^-a).
func gated(gate, up []float32) {
	for i, a := range gate {
		gate[i] = a / (1 + float32(math.Exp(float64(-a)))) * up[i]
	}
}

// addRounded rounds src to q80 and adds it to dst. distributed-llama passes
// partial results between nodes as q80, and rounds them with a single node as
// well. The lengths must be the same multiple of 32.
func addRounded(dst, src []float32) {
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

// add adds src to dst. The lengths must be the same.
func add(dst, src []float32) {
	for i, v := range src {
		dst[i] += v
	}
}
