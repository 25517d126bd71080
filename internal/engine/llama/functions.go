package llama

import (
	"math"

	"github.com/gorizond/koldun/internal/engine/llama/kernel"
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

// add adds src to dst. The lengths must be the same.
func add(dst, src []float32) {
	for i, v := range src {
		dst[i] += v
	}
}
