package llama

import (
	"math"

	"github.com/gorizond/koldun/internal/llama/kernel"
)

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

func (r *runner) each(f func(*runner, int)) {
	r.stage.f = f
	r.pool.do(&r.stage, r.n, 1)
}

// An attention computes attention heads: unit i*heads+h is head h of token i.
type attention struct {
	r      *runner
	scores [][]float32 // one row of positions per worker
}

func (a *attention) run(worker, lo, hi int) {
	r := a.r
	s := r.model.shape
	group := s.Heads / s.KVHeads
	root := float32(math.Sqrt(float64(s.HeadDim)))
	for unit := lo; unit < hi; unit++ {
		i, h := unit/s.Heads, unit%s.Heads
		query := r.query[i*s.QDim()+h*s.HeadDim:][:s.HeadDim]
		keys, values := r.cache.head(r.layerIndex, h/group)
		scores := a.scores[worker][:r.start+i+1]
		r.kernels.F32(keys, s.HeadDim, query, 1, scores, len(scores), 0, len(scores))
		for t := range scores {
			scores[t] /= root
		}
		r.kernels.Softmax(scores)
		r.kernels.Mix(r.mixed.at(i)[h*s.HeadDim:][:s.HeadDim], scores, values)
	}
}

func (r *runner) attend() {
	s := r.model.shape
	each := 2 * s.HeadDim * (r.start + r.n)
	r.pool.do(&r.attention, r.n*s.Heads, work/each)
}
