package llama

import (
	"encoding/binary"
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

// plainDotQ40 follows the definition: integers per block, floats over blocks.
func plainDotQ40(row []q40Block, x []float32) float32 {
	var sum float32
	for i := range row {
		var raw [dllama.Q80Block]byte
		dllama.EncodeQ80(&raw, (*[block]float32)(x[i*block:]))
		dot := 0
		for j, b := range row[i][2:] {
			dot += (int(b&15)-8)*int(int8(raw[2+j])) + (int(b>>4)-8)*int(int8(raw[2+j+16]))
		}
		scale := dllama.FromF16(binary.LittleEndian.Uint16(row[i][:])) * dllama.FromF16(binary.LittleEndian.Uint16(raw[:]))
		sum += float32(float32(dot) * scale)
	}
	return sum
}

func TestDotQ40(t *testing.T) {
	rng := newRand()
	for range 200 {
		n := block * (1 + rng.IntN(20))
		row := q40Row(randoms(rng, n))
		var x [4][]float32
		var p [4][]packed
		var want, got [4]float32
		for i := range x {
			x[i] = randoms(rng, n)
			p[i] = packedRow(x[i])
			want[i] = plainDotQ40(row, x[i])
			if got := dotQ40(row, p[i]); got != want[i] {
				t.Fatalf("dotQ40 is %v, want %v", got, want[i])
			}
		}
		got[0], got[1], got[2], got[3] = dot4Q40(row, p[0], p[1], p[2], p[3])
		if got != want {
			t.Fatalf("dot4Q40 is %v, want %v", got, want)
		}
	}
}

// TestDotLanesExtremes uses the limits of nibbles and activations, where lanes
// come closest to overflowing.
func TestDotLanesExtremes(t *testing.T) {
	values := []int8{-127, -1, 0, 1, 127}
	rng := newRand()
	for range 20000 {
		var w q40Block
		var raw [dllama.Q80Block]byte
		binary.LittleEndian.PutUint16(raw[:], 0x3c00) // 1
		fill := rng.IntN(5)
		for j := range w[2:] {
			if fill == 4 {
				w[2+j] = byte(rng.Uint32())
				continue
			}
			w[2+j] = []byte{0, 0x0f, 0xf0, 0xff}[fill]
		}
		pattern := rng.IntN(3)
		for j := range block {
			switch pattern {
			case 0:
				raw[2+j] = byte(values[rng.IntN(len(values))])
			case 1: // all the same
				raw[2+j] = byte(values[0])
			case 2: // the lower lanes negative, the top lane positive
				raw[2+j] = byte(values[4*(j/8%2)])
			}
		}
		want := int32(0)
		for j, b := range w[2:] {
			want += (int32(b&15)-8)*int32(int8(raw[2+j])) + (int32(b>>4)-8)*int32(int8(raw[2+j+16]))
		}
		var p packed
		p.set(&raw)
		lo, hi := binary.LittleEndian.Uint64(w[2:]), binary.LittleEndian.Uint64(w[10:])
		got := dotLanes(lo, p.lanes[0], p.lanes[1], p.lanes[2], p.lanes[3]) + dotLanes(hi, p.lanes[4], p.lanes[5], p.lanes[6], p.lanes[7])
		if int32(got)-p.bias != want {
			t.Fatalf("product of % x and % x is %d, want %d", w[2:], raw[2:], int32(got)-p.bias, want)
		}
	}
}

func TestQ40Scale(t *testing.T) {
	for h := range 1 << 16 {
		var b q40Block
		binary.LittleEndian.PutUint16(b[:], uint16(h))
		got, want := q40Scale(&b), dllama.FromF16(uint16(h))
		if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
			t.Fatalf("scale of %04x is %v, want %v", h, got, want)
		}
	}
}

func TestDotF32(t *testing.T) {
	rng := newRand()
	for n := range 70 {
		a, b, c := randoms(rng, n), randoms(rng, n), randoms(rng, n)
		var want float64
		for i := range a {
			want += float64(a[i]) * float64(b[i])
		}
		got := dotF32(a, b)
		if math.Abs(float64(got)-want) > 1e-5*float64(n) {
			t.Errorf("product of %d values is %v, want %v", n, got, want)
		}
		two, three := dot2F32(a, b, c)
		if two != got || three != dotF32(a, c) {
			t.Errorf("two products of %d values are %v and %v, want %v and %v", n, two, three, got, dotF32(a, c))
		}
	}
}

func TestAddScaled(t *testing.T) {
	rng := newRand()
	for n := range 20 {
		dst, src := randoms(rng, n), randoms(rng, n)
		want := make([]float32, n)
		for i := range want {
			want[i] = dst[i] + float32(3*src[i])
		}
		addScaled(dst, 3, src)
		for i := range want {
			if dst[i] != want[i] {
				t.Fatalf("value %d of %d is %v, want %v", i, n, dst[i], want[i])
			}
		}
	}
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
