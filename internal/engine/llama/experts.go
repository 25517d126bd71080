package llama

import "math"

// An expert is one of the feed-forward networks of a layer.
type expert struct{ gate, down, up matrix }

// A mixture has the buffers to compute the experts that tokens of a batch choose.
// A model without experts has none.
type mixture struct {
	active int       // number of experts that a token chooses
	scores []float32 // batch * experts: how well an expert fits a token
	shares []float32 // batch * experts: of an expert in the output for a token, 0 if it is not chosen
	rows   []int     // the tokens that chose the current expert
	in     vectors   // their normalised residual streams
	out    []float32 // batch * dim: the outputs of the expert
}

func newMixture(m *model, batch int) mixture {
	s := m.shape
	if s.Experts == 0 {
		return mixture{}
	}
	return mixture{
		active: s.ActiveExperts, rows: make([]int, 0, batch), out: make([]float32, batch*s.Dim),
		scores: make([]float32, batch*s.Experts), shares: make([]float32, batch*s.Experts),
		in: newVectors(batch, s.Dim, m.rounded),
	}
}

// mix computes for each token the experts that the router chooses, and adds their
// outputs in the order of the experts, so that a token gets the same bits in each
// batch.
func (r *runner) mix() {
	m, n := &r.mixture, len(r.layer.experts)
	r.multiply(&r.normed, part{r.layer.router, m.scores})
	for i := range r.rows {
		divide(m.shares[i*n:(i+1)*n], m.scores[i*n:(i+1)*n], m.active)
	}
	clear(r.out[:len(r.rows)*r.model.shape.Dim])
	for e := range r.layer.experts {
		m.rows = m.rows[:0]
		for i := range r.rows {
			if m.shares[i*n+e] != 0 {
				m.rows = append(m.rows, i)
			}
		}
		if len(m.rows) > 0 {
			r.ask(e)
		}
	}
	r.gate.n = len(r.rows)
}

// ask computes one expert for the tokens that chose it.
func (r *runner) ask(e int) {
	m, x := &r.mixture, &r.layer.experts[e]
	m.in.n, r.gate.n = len(m.rows), len(m.rows)
	r.eachOf(len(m.rows), (*runner).gather)
	r.multiply(&m.in, part{x.gate, r.gate.values}, part{x.up, r.up})
	r.eachOf(len(m.rows), (*runner).activate)
	r.multiply(&r.gate, part{x.down, m.out})
	for k, i := range m.rows {
		weight := m.shares[i*len(r.layer.experts)+e]
		sum := r.row(r.out, i)
		for j, v := range r.row(m.out, k) {
			sum[j] += float32(weight * v)
		}
	}
}

// gather copies the input of a token that chose the current expert.
func (r *runner) gather(k int) {
	copy(r.mixture.in.at(k), r.normed.at(r.mixture.rows[k]))
	r.mixture.in.pack(r.kernels, k)
}

// divide divides 1 among the active experts with the highest scores, as softmax
// does, and gives the others 0. Of equal scores the first one counts.
func divide(shares, scores []float32, active int) {
	clear(shares)
	var sum, highest float32
	for range active {
		best := -1
		for e, s := range scores {
			if shares[e] == 0 && (best < 0 || s > scores[best]) {
				best = e
			}
		}
		if sum == 0 {
			highest = scores[best]
		}
		// No share is 0, which would make the expert be chosen again.
		shares[best] = max(float32(math.Exp(float64(scores[best]-highest))), math.SmallestNonzeroFloat32)
		sum += shares[best]
	}
	for e := range shares {
		shares[e] /= sum
	}
}
