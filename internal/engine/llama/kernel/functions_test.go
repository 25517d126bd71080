package kernel

import (
	"math"
	"testing"

	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/topology"
)

// oddValues are values of all sizes, and now and then one that is no number.
func oddValues(n int, seed uint64) []float32 {
	rng := newRand()
	for range seed {
		rng.Uint64()
	}
	out, scale := randoms(rng, n), float32(math.Exp2(float64(rng.IntN(300)-160)))
	for i := range out {
		out[i] *= scale
		if rng.IntN(4) == 0 {
			out[i] = 0
		}
		if rng.IntN(500) == 0 {
			out[i] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}[rng.IntN(3)]
		}
	}
	return out
}

// equal also takes zeros of both signs as equal: a block of zeros has a scale of
// either.
func equal(a, b float32) bool { return a == b || a != a && b != b }

// TestPack wants the integers and scales of q80, with a distance between blocks.
func TestPack(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		for i := range uint64(2000) {
			const blocks, stride = 3, 5
			src := oddValues(blocks*block, i)
			dst := make([]Packed, blocks*stride)
			s.Pack(dst, stride, src)
			for b := range blocks {
				var raw [dllama.Q80Block]byte
				dllama.EncodeQ80(&raw, (*[block]float32)(src[b*block:]))
				var want Packed
				want.set(&raw, s.lanes)
				got := dst[b*stride]
				if got.words != want.words || got.bias != want.bias || !equal(got.scale, want.scale) {
					t.Fatalf("%v is packed as %v, want %v", src[b*block:(b+1)*block], got, want)
				}
			}
			for b, p := range dst {
				if b%stride != 0 && p != (Packed{}) {
					t.Fatalf("block %d of a distance of %d was written", b, stride)
				}
			}
		}
	})
}

// TestAddRounded wants src to be rounded to q80.
func TestAddRounded(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		for i := range uint64(2000) {
			dst, src := oddValues(96, 3*i), oddValues(96, i)
			want := make([]float32, 96)
			raw := make([]byte, 3*dllama.Q80Block)
			dllama.Encode(topology.Q80, raw, src)
			dllama.Decode(topology.Q80, want, raw)
			for i := range want {
				want[i] += dst[i]
			}
			s.AddRounded(dst, src)
			for i := range want {
				if !equal(dst[i], want[i]) {
					t.Fatalf("value %d is %v, want %v", i, dst[i], want[i])
				}
			}
		}
	})
}

func TestSiLU(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		rng := newRand()
		for n := range 100 {
			gate, up := randoms(rng, n), randoms(rng, n)
			want := make([]float64, n)
			for i := range gate {
				gate[i] *= 40 // e^40 and beyond the range of float32
				a := float64(gate[i])
				want[i] = a / (1 + math.Exp(-a)) * float64(up[i])
			}
			s.SiLU(gate, up)
			for i, w := range want {
				if !(math.Abs(float64(gate[i])-w) <= 1e-6*math.Abs(w)+1e-36) {
					t.Fatalf("value %d of %d is %v, want %v", i, n, gate[i], w)
				}
			}
		}
		gate := []float32{float32(math.NaN()), 200, -200, 0, 1, 2, 3, 4}
		s.SiLU(gate, []float32{1, 1, 1, 1, 1, 1, 1, 1})
		if gate[0] == gate[0] || gate[1] != 200 || gate[2] != 0 || gate[3] != 0 {
			t.Errorf("limits are %v", gate)
		}
	})
}

func TestSoftmax(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		rng := newRand()
		for n := 1; n < 100; n++ {
			x, want, sum := randoms(rng, n), make([]float64, n), 0.
			for i := range x {
				x[i] *= 10
				if rng.IntN(9) == 0 {
					x[i] = -1000
				}
				want[i] = math.Exp(float64(x[i]))
				sum += want[i]
			}
			s.Softmax(x)
			for i, w := range want {
				if w /= sum; !(math.Abs(float64(x[i])-w) <= 1e-5*w+1e-30) {
					t.Fatalf("probability %d of %d is %v, want %v", i, n, x[i], w)
				}
			}
		}
	})
}
