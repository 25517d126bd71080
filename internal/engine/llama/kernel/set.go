package kernel

import "github.com/gorizond/koldun/internal/model/formats/dllama"

// A Set is the inner loops for one instruction set. It is immutable and safe for
// concurrent use.
type Set struct {
	Name string

	lanes bool // whether activations are packed for dotLanes, not as bytes
	pack  func(dst []Packed, stride int, src []float32)
	q40   func(m q40Product, lo, hi int)
	tile  int // rows that q40 computes at once

	f32 func(m f32Product, lo, hi int)
	dot func(a, b []float32) float32
	mix func(dst, weights, rows []float32)

	addRounded func(dst, src []float32)
	silu       func(gate, up []float32)
	expSum     func(x []float32, top float32) float32
}

// TileRows is the number of rows that a call should compute, or a multiple of it:
// all sets compute so many at once.
const TileRows = 16

// Sets returns the sets that this machine runs, the fastest first. The last one
// is the portable one.
func Sets() []*Set { return append(machineSets(), Portable()) }

// Portable returns the set in plain Go.
func Portable() *Set {
	return &Set{
		Name: "portable", lanes: true, pack: packLanes, q40: portableQ40, tile: 1,
		f32: portableF32, dot: dotF32, mix: portableMix,
		addRounded: portableAddRounded, silu: portableSiLU, expSum: portableExpSum,
	}
}

// A Q40Block is 32 weights: a binary16 scale and 16 bytes of two nibbles each.
type Q40Block = [dllama.Q40Block]byte

// Q40 computes the rows lo..hi-1 of the product of a matrix of q40 weights and n
// packed vectors: row r of vector t goes to out[t*stride+r]. A row has so many
// blocks; block b of vector t is x[b*n+t].
func (s *Set) Q40(weights []Q40Block, blocks int, x []Packed, n int, out []float32, stride, lo, hi int) {
	m := q40Product{weights: weights[:hi*blocks], blocks: blocks, x: x[:blocks*n], n: n, out: out[:(n-1)*stride+hi], stride: stride}
	tiles := lo + (hi-lo)/s.tile*s.tile
	if lo < tiles {
		s.q40(m, lo, tiles)
	}
	for r := tiles; r < hi; r++ {
		m.rowOfBytes(r)
	}
}

// A q40Product is the arguments of Set.Q40, of checked lengths.
type q40Product struct {
	weights   []Q40Block
	blocks, n int
	x         []Packed
	out       []float32
	stride    int
}

func (m q40Product) row(r int) []Q40Block { return m.weights[r*m.blocks : (r+1)*m.blocks] }
