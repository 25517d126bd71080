package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// An f32Case is a product of some rows of a matrix with some vectors.
type f32Case struct {
	rows, width, n, lo, hi int
	weights, x             []float32
}

func randomF32(rng *rand.Rand, rows, width, n int) f32Case {
	c := f32Case{rows: rows, width: width, n: n, weights: randoms(rng, rows*width), x: randoms(rng, n*width)}
	c.lo = rng.IntN(rows)
	c.hi = c.lo + 1 + rng.IntN(rows-c.lo)
	return c
}

// check wants the product within the error of adding up so many values, in
// whatever order, the bits of the product of one row and one vector, and no other
// output.
func (c f32Case) check(t *testing.T, s *Set) {
	t.Helper()
	const untouched = 12345
	out := make([]float32, c.n*c.rows)
	for i := range out {
		out[i] = untouched
	}
	s.F32(c.weights, c.width, c.x, c.n, out, c.rows, c.lo, c.hi)
	for i, got := range out {
		v, r := i/c.rows, i%c.rows
		if r < c.lo || r >= c.hi {
			if got != untouched {
				t.Fatalf("row %d of vector %d was written, of rows %d to %d", r, v, c.lo, c.hi)
			}
			continue
		}
		row, x := c.weights[r*c.width:(r+1)*c.width], c.x[v*c.width:(v+1)*c.width]
		var want, size float64
		for j := range row {
			want += float64(row[j]) * float64(x[j])
			size += math.Abs(float64(row[j]) * float64(x[j]))
		}
		if limit := float64(c.width+1) * 0x1p-24 * size; !(math.Abs(float64(got)-want) <= limit) {
			t.Fatalf("row %d of vector %d, %d wide, is %v, want %v within %v", r, v, c.width, got, want, limit)
		}
		if single := s.Dot(row, x); got != single {
			t.Fatalf("row %d of %d vectors, %d wide, is %v, alone %v", r, c.n, c.width, got, single)
		}
	}
}

func TestF32(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		rng := newRand()
		for range 500 {
			randomF32(rng, 1+rng.IntN(40), 1+rng.IntN(200), 1+rng.IntN(10)).check(t, s)
		}
	})
}

// A matrix of which the kernels may read row by row has the same bits.
func TestF32Large(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		rng := newRand()
		const width = 1024 + 3
		for _, n := range []int{1, 2} {
			randomF32(rng, large/width+1, width, n).check(t, s)
		}
	})
}

func FuzzF32(f *testing.F) {
	f.Add(uint64(1), uint8(17), uint16(100), uint8(33))
	f.Fuzz(func(t *testing.T, seed uint64, rows uint8, width uint16, n uint8) {
		c := randomF32(rand.New(rand.NewPCG(seed, 0)), 1+int(rows%40), 1+int(width%300), 1+int(n%10))
		for _, s := range Sets() {
			c.check(t, s)
		}
	})
}

func TestMix(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		rng := newRand()
		for range 500 {
			width, n := 1+rng.IntN(300), rng.IntN(40)
			weights, rows, dst := randoms(rng, n), randoms(rng, n*width), randoms(rng, width)
			before := slices.Clone(dst)
			s.Mix(dst, weights, rows)
			for c, got := range dst {
				want, size := float64(before[c]), math.Abs(float64(before[c]))
				for r, w := range weights {
					want += float64(w) * float64(rows[r*width+c])
					size += math.Abs(float64(w) * float64(rows[r*width+c]))
				}
				if limit := float64(n+1) * 0x1p-24 * size; !(math.Abs(float64(got)-want) <= limit) {
					t.Fatalf("column %d of %d rows, %d wide, is %v, want %v within %v", c, n, width, got, want, limit)
				}
			}
		}
	})
}
