package llama

import (
	"testing"

	"github.com/gorizond/koldun/internal/topology"
)

const benchWidth = 2048

var sink float32

func BenchmarkDotQ40(b *testing.B) {
	rng := newRand()
	w, x := q40Row(randoms(rng, benchWidth)), packedRow(randoms(rng, benchWidth))
	b.SetBytes(topology.Q40.Bytes(benchWidth))
	b.ReportAllocs()
	for b.Loop() {
		sink = dotQ40(w, x)
	}
}

func BenchmarkDot4Q40(b *testing.B) {
	rng := newRand()
	w, x := q40Row(randoms(rng, benchWidth)), packedRow(randoms(rng, benchWidth))
	b.SetBytes(4 * topology.Q40.Bytes(benchWidth))
	b.ReportAllocs()
	for b.Loop() {
		sink, _, _, _ = dot4Q40(w, x, x, x, x)
	}
}

func BenchmarkDotF32(b *testing.B) {
	rng := newRand()
	w, x := randoms(rng, benchWidth), randoms(rng, benchWidth)
	b.SetBytes(4 * benchWidth)
	b.ReportAllocs()
	for b.Loop() {
		sink = dotF32(w, x)
	}
}

func BenchmarkDot2F32(b *testing.B) {
	rng := newRand()
	w, x := randoms(rng, benchWidth), randoms(rng, benchWidth)
	b.SetBytes(2 * 4 * benchWidth)
	b.ReportAllocs()
	for b.Loop() {
		sink, _ = dot2F32(w, x, x)
	}
}
