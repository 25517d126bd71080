package llama

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorizond/koldun/internal/formats/dllama"
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

// TestAddRounded wants src to be rounded to q80.
func TestAddRounded(t *testing.T) {
	rng := newRand()
	dst, src := randoms(rng, 64), randoms(rng, 64)
	want := make([]float32, 64)
	raw := make([]byte, 2*dllama.Q80Block)
	dllama.Encode("q80", raw, src)
	dllama.Decode("q80", want, raw)
	for i := range want {
		want[i] += dst[i]
	}
	addRounded(dst, src)
	for i := range want {
		if dst[i] != want[i] {
			t.Fatalf("value %d is %v, want %v", i, dst[i], want[i])
		}
	}
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

func TestSoftmax(t *testing.T) {
	x := []float32{1000, 999, -1000}
	softmax(x)
	e := math.Exp(-1)
	for i, want := range []float64{1 / (1 + e), e / (1 + e), 0} {
		if math.Abs(float64(x[i])-want) > 1e-6 {
			t.Errorf("probability %d is %v, want %v", i, x[i], want)
		}
	}
}
