package llama

import (
	"math/rand/v2"
	"testing"

	"github.com/gorizond/koldun/internal/formats/dllama"
	"github.com/gorizond/koldun/internal/topology"
)

func randoms(rng *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

func q40Row(values []float32) []q40Block {
	row := make([]q40Block, len(values)/block)
	for i := range row {
		dllama.EncodeQ40(&row[i], (*[block]float32)(values[i*block:]))
	}
	return row
}

func packedRow(values []float32) []packed {
	row := make([]packed, len(values)/block)
	pack(row, values)
	return row
}

const benchWidth = 2048

var sink float32

func BenchmarkDotQ40(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	w, x := q40Row(randoms(rng, benchWidth)), packedRow(randoms(rng, benchWidth))
	b.SetBytes(topology.Q40.Bytes(benchWidth))
	b.ReportAllocs()
	for b.Loop() {
		sink = dotQ40(w, x)
	}
}

func BenchmarkDot4Q40(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	w, x := q40Row(randoms(rng, benchWidth)), packedRow(randoms(rng, benchWidth))
	b.SetBytes(4 * topology.Q40.Bytes(benchWidth))
	b.ReportAllocs()
	for b.Loop() {
		sink, _, _, _ = dot4Q40(w, x, x, x, x)
	}
}

func BenchmarkDotF32(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	w, x := randoms(rng, benchWidth), randoms(rng, benchWidth)
	b.SetBytes(4 * benchWidth)
	b.ReportAllocs()
	for b.Loop() {
		sink = dotF32(w, x)
	}
}

func BenchmarkDot2F32(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	w, x := randoms(rng, benchWidth), randoms(rng, benchWidth)
	b.SetBytes(2 * 4 * benchWidth)
	b.ReportAllocs()
	for b.Loop() {
		sink, _ = dot2F32(w, x, x)
	}
}
