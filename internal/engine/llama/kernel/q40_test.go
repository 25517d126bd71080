package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
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

func q40Row(values []float32) []Q40Block {
	row := make([]Q40Block, len(values)/block)
	for i := range row {
		dllama.EncodeQ40(&row[i], (*[block]float32)(values[i*block:]))
	}
	return row
}

// plainDotQ40 follows the definition: integers per block, floats over blocks.
func plainDotQ40(row []Q40Block, x []float32) float32 {
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

// eachSet runs a test with every set of this machine.
func eachSet(t *testing.T, f func(t *testing.T, s *Set)) {
	t.Helper()
	for _, s := range Sets() {
		t.Run(s.Name, func(t *testing.T) { f(t, s) })
	}
}

// A q40Case is a product of some rows of a matrix with some vectors.
type q40Case struct {
	rows, blocks, n, lo, hi int
	weights                 []Q40Block
	x                       []float32 // vector by vector
}

// check wants the bits of the definition, and no other output.
func (c q40Case) check(s *Set) error {
	width, stride := c.blocks*block, c.rows
	x := make([]Packed, c.blocks*c.n)
	for i := range c.n {
		s.Pack(x[i:], c.n, c.x[i*width:(i+1)*width])
	}
	const untouched = 12345
	out := make([]float32, c.n*stride)
	for i := range out {
		out[i] = untouched
	}
	s.Q40(c.weights, c.blocks, x, c.n, out, stride, c.lo, c.hi)
	for i, got := range out {
		t, r := i/stride, i%stride
		want := float32(untouched)
		if r >= c.lo && r < c.hi {
			want = plainDotQ40(c.weights[r*c.blocks:(r+1)*c.blocks], c.x[t*width:(t+1)*width])
		}
		if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
			return fmt.Errorf("row %d of vector %d (%d vectors of %d blocks) is %v, want %v", r, t, c.n, c.blocks, got, want)
		}
	}
	return nil
}

func randomQ40(rng *rand.Rand, rows, blocks, n int) q40Case {
	c := q40Case{rows: rows, blocks: blocks, n: n, weights: q40Row(randoms(rng, rows*blocks*block)), x: randoms(rng, n*blocks*block)}
	c.lo = rng.IntN(rows)
	c.hi = c.lo + 1 + rng.IntN(rows-c.lo)
	return c
}

func TestQ40(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		rng := newRand()
		for range 200 {
			if err := randomQ40(rng, 1+rng.IntN(70), 1+rng.IntN(20), 1+rng.IntN(40)).check(s); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestQ40Extremes uses the limits of nibbles, activations and scales, where
// integers come closest to overflowing.
func TestQ40Extremes(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		rng := newRand()
		for range 2000 {
			c := randomQ40(rng, 16, 1+rng.IntN(3), 1+rng.IntN(3))
			fill := rng.IntN(5)
			for i := range c.weights {
				if rng.IntN(8) == 0 { // any scale: subnormal, infinite, no number
					binary.LittleEndian.PutUint16(c.weights[i][:], uint16(rng.Uint32()))
				}
				for j := range c.weights[i][2:] {
					c.weights[i][2+j] = []byte{0, 0x0f, 0xf0, 0xff, byte(rng.Uint32())}[fill]
				}
			}
			scale, pattern := []float32{1, 1e-30, 1e30, 1e-42, 6e-8}[rng.IntN(5)], rng.IntN(4)
			for i := range c.x {
				c.x[i] = scale * []float32{[]float32{-1, -.01, 0, .01, 1}[rng.IntN(5)], -1, 1, float32(1 - i/8%2*2)}[pattern]
			}
			if err := c.check(s); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzQ40(f *testing.F) {
	f.Add(uint64(1), uint8(17), uint8(2), uint8(33), []byte{0, 0x3c, 1, 2})
	f.Fuzz(func(t *testing.T, seed uint64, rows, blocks, n uint8, raw []byte) {
		c := randomQ40(rand.New(rand.NewPCG(seed, 0)), 1+int(rows%70), 1+int(blocks%9), 1+int(n%40))
		for i := range raw { // any bits
			w := &c.weights[i/len(c.weights[0])%len(c.weights)]
			w[i%len(w)] = raw[i]
		}
		for _, s := range Sets() {
			if err := c.check(s); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	})
}

func TestQ40Scale(t *testing.T) {
	for h := range 1 << 16 {
		var b Q40Block
		binary.LittleEndian.PutUint16(b[:], uint16(h))
		got, want := q40Scale(&b), dllama.FromF16(uint16(h))
		if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
			t.Fatalf("scale of %04x is %v, want %v", h, got, want)
		}
	}
}
