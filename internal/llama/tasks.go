package llama

import "math"

// work is the approximate number of multiplications that justifies waking
// another worker.
const work = 1 << 15

// A product multiplies the same vectors with up to three matrices. Workers
// share the rows of all three.
type product struct {
	x     *vectors
	parts [3]part
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
		rows := part.m.rows()
		if lo < rows {
			part.m.multiply(p.x, part.out, rows, lo, min(hi, rows))
		}
		lo, hi = max(lo-rows, 0), hi-rows
	}
}

func (r *runner) multiply(x *vectors, parts ...part) {
	r.product.x, r.product.parts = x, [3]part{}
	n := copy(r.product.parts[:], parts)
	rows := 0
	for _, p := range r.product.parts[:n] {
		rows += p.m.rows()
	}
	r.pool.do(&r.product, rows, work/(x.width*x.n))
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
		for t := range scores {
			scores[t] = dotF32(query, keys[t*s.HeadDim:(t+1)*s.HeadDim]) / root
		}
		softmax(scores)
		mixed := r.mixed.at(i)[h*s.HeadDim:][:s.HeadDim]
		clear(mixed)
		for t, score := range scores {
			addScaled(mixed, score, values[t*s.HeadDim:(t+1)*s.HeadDim])
		}
	}
}

func (r *runner) attend() {
	s := r.model.shape
	each := 2 * s.HeadDim * (r.start + r.n)
	r.pool.do(&r.attention, r.n*s.Heads, work/each)
}
