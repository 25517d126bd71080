package dllama_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorizond/koldun/internal/model/formats/dllama"
)

// TestBF16LikeFloat32 wants EncodeQ40BF16 to agree with EncodeQ40 on every kind
// of block.
func TestBF16LikeFloat32(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var raw [64]byte
	var values [32]float32
	for round := range 300_000 {
		exp, spread := rng.IntN(255), 1+rng.IntN(20)
		for i := range values {
			h := uint16(rng.Uint32())
			switch round % 4 {
			case 0: // any value
			case 1: // near each other
				e := max(exp-rng.IntN(spread), 0)
				h = h&0x807f | uint16(e)<<7
			case 2: // few different ones: ties
				h = h&0x8003 | uint16(exp)<<7
			case 3: // mostly zeros
				if rng.IntN(10) > 0 {
					h &= 0x8000
				}
			}
			if h&0x7f80 == 0x7f80 {
				h &^= 0x0080
			}
			binary.LittleEndian.PutUint16(raw[2*i:], h)
			values[i] = dllama.FromBF16(h)
		}
		got := make([]byte, dllama.Q40Block)
		if !dllama.EncodeQ40BF16(got, raw[:]) {
			t.Fatalf("% x is said not to be finite", raw)
		}
		if want := plainQ40(values[:]); !bytes.Equal(got, want) {
			t.Fatalf("bytes of %v are % x, want % x", values, got, want)
		}
	}
}

func TestBF16NotFinite(t *testing.T) {
	for _, h := range []uint16{0x7f80, 0xff80, 0x7fc0, 0xffff, 0x7f81} {
		for i := range 64 {
			raw := make([]byte, 128)
			binary.LittleEndian.PutUint16(raw[2*i:], h)
			if dllama.EncodeQ40BF16(make([]byte, 36), raw) {
				t.Fatalf("%04x at %d is said to be finite", h, i)
			}
		}
	}
}

func BenchmarkEncodeQ40BF16(b *testing.B) {
	const n = 1 << 18
	rng := rand.New(rand.NewPCG(1, 2))
	src := make([]byte, 2*n)
	for i := range n {
		binary.LittleEndian.PutUint16(src[2*i:], uint16(math.Float32bits(float32(rng.NormFloat64()*0.02))>>16))
	}
	dst := make([]byte, n/32*18)
	b.ReportAllocs()
	for b.Loop() {
		if !dllama.EncodeQ40BF16(dst, src) {
			b.Fatal("not finite")
		}
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds()/1e6, "Mparams/s")
}
