package llama

import "github.com/gorizond/koldun/internal/engine/llama/kernel"

// work is the approximate number of multiplications that justifies waking
// another worker: vector instructions need some microseconds for it, and so does
// the system to wake a thread.
const work = 1 << 17

// A product multiplies the same vectors with up to three matrices. Workers
// share the rows of all three: a unit is kernel.TileRows of them.
type product struct {
	kernels *kernel.Set
	x       *vectors
	parts   [3]part
}

// A part is an optional matrix and the destination of its outputs.
type part struct {
	m   matrix
	out []float32
}

func (p *product) run(_, lo, hi int) {
	for _, part := range p.parts {
		if part.m == nil || hi <= 0 {
			return
		}
		units, rows := part.units(), part.m.rows()
		if lo < units {
			part.m.multiply(p.kernels, p.x, part.out, rows, lo*kernel.TileRows, min(hi*kernel.TileRows, rows))
		}
		lo, hi = max(lo-units, 0), hi-units
	}
}

func (p part) units() int { return (p.m.rows() + kernel.TileRows - 1) / kernel.TileRows }

func (r *runner) multiply(x *vectors, parts ...part) {
	r.product.x, r.product.parts = x, [3]part{}
	n := copy(r.product.parts[:], parts)
	units := 0
	for _, p := range r.product.parts[:n] {
		units += p.units()
	}
	r.pool.do(&r.product, units, work/(x.width*x.n*kernel.TileRows))
}

// A tokenStage runs one step for each token of the batch.
type tokenStage struct {
	r *runner
	f func(r *runner, i int)
}

func (s *tokenStage) run(_, lo, hi int) {
	for i := lo; i < hi; i++ {
		s.f(s.r, i)
	}
}

func (r *runner) each(f func(*runner, int)) { r.eachOf(len(r.rows), f) }

func (r *runner) eachOf(n int, f func(*runner, int)) {
	r.stage.f = f
	r.pool.do(&r.stage, n, 1)
}
