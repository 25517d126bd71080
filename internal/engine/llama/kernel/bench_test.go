package kernel

import (
	"fmt"
	"testing"

	"github.com/gorizond/koldun/internal/model/topology"
)

const benchWidth, benchRows = 1024, 2048

// BenchmarkQ40 multiplies a matrix with one vector and with a batch. Bytes are
// those of weights, times vectors.
func BenchmarkQ40(b *testing.B) {
	rng := newRand()
	weights := q40Row(randoms(rng, benchWidth*benchRows))
	for _, s := range Sets() {
		for _, n := range []int{1, 4, 32} {
			b.Run(fmt.Sprintf("%s/vectors=%d", s.Name, n), func(b *testing.B) {
				x := make([]Packed, n*benchWidth/block)
				for i := range n {
					s.Pack(x[i:], n, randoms(rng, benchWidth))
				}
				out := make([]float32, n*benchRows)
				b.SetBytes(int64(n) * topology.Q40.Bytes(benchWidth*benchRows))
				b.ReportAllocs()
				for b.Loop() {
					s.Q40(weights, benchWidth/block, x, n, out, benchRows, 0, benchRows)
				}
			})
		}
	}
}

func BenchmarkF32(b *testing.B) {
	rng := newRand()
	weights := randoms(rng, benchWidth*benchRows)
	for _, s := range Sets() {
		for _, n := range []int{1, 4, 32} {
			b.Run(fmt.Sprintf("%s/vectors=%d", s.Name, n), func(b *testing.B) {
				x, out := randoms(rng, n*benchWidth), make([]float32, n*benchRows)
				b.SetBytes(int64(n) * 4 * benchWidth * benchRows)
				b.ReportAllocs()
				for b.Loop() {
					s.F32(weights, benchWidth, x, n, out, benchRows, 0, benchRows)
				}
			})
		}
	}
}

// BenchmarkPack rounds activations.
func BenchmarkPack(b *testing.B) {
	src := randoms(newRand(), benchWidth)
	dst := make([]Packed, benchWidth/block)
	for _, s := range Sets() {
		b.Run(s.Name, func(b *testing.B) {
			b.SetBytes(4 * benchWidth)
			b.ReportAllocs()
			for b.Loop() {
				s.Pack(dst, 1, src)
			}
		})
	}
}
