package llama

import "math"

// rmsNorm scales x to a mean square of 1, multiplies it by weight and writes
// the result to dst.
func rmsNorm(dst, x, weight []float32, epsilon float32) {
	mean := dotF32(x, x)/float32(len(x)) + epsilon
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
