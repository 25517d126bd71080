package dllama_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/topology"
)

func BenchmarkEncode(b *testing.B) {
	const n = 1 << 18
	rng := rand.New(rand.NewPCG(1, 2))
	src := make([]float32, n)
	for i := range src {
		src[i] = float32(rng.NormFloat64()) * 0.02
	}
	for _, t := range []topology.FloatType{topology.F32, topology.F16, topology.Q40, topology.Q80} {
		b.Run(string(t), func(b *testing.B) {
			dst := make([]byte, t.Bytes(n))
			b.ReportAllocs()
			for b.Loop() {
				dllama.Encode(t, dst, src)
			}
			b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds()/1e6, "Mparams/s")
		})
	}
}
