package llama

import (
	"math/rand/v2"
	"testing"

	"github.com/gorizond/koldun/internal/model/formats/dllama"
)

// newRand returns the same numbers in every run.
func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func randoms(rng *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

func TestFloatsAnyAlignment(t *testing.T) {
	values := randoms(newRand(), 9)
	for shift := range 4 {
		raw := make([]byte, shift+4*len(values))
		dllama.Encode("f32", raw[shift:], values)
		for i, got := range floats(raw[shift:]) {
			if got != values[i] {
				t.Fatalf("value %d at alignment %d is %v, want %v", i, shift, got, values[i])
			}
		}
	}
}
