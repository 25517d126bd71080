package llama

import "math"

// A Pooling makes one vector of the states of a text's tokens.
type Pooling string

// The poolings.
const (
	PoolMean Pooling = "mean" // the mean of all states
	PoolLast Pooling = "last" // the state of the last token
)

// pooled collects the final states of the tokens of a sequence, in order.
type pooled struct {
	how  Pooling
	sums []float64
	n    int
}

func newPooled(how Pooling, dim int) *pooled { return &pooled{how: how, sums: make([]float64, dim)} }

func (p *pooled) reset() {
	clear(p.sums)
	p.n = 0
}

// add takes the state of the next token.
func (p *pooled) add(state []float32) {
	if p.how == PoolLast {
		p.reset()
	}
	for i, v := range state {
		p.sums[i] += float64(v)
	}
	p.n++
}

// vector returns the pooled state with a length of 1. The mean has the direction
// of the sum.
func (p *pooled) vector() []float32 {
	var squares float64
	for _, v := range p.sums {
		squares += v * v
	}
	out := make([]float32, len(p.sums))
	if squares == 0 {
		return out
	}
	scale := 1 / math.Sqrt(squares)
	for i, v := range p.sums {
		out[i] = float32(v * scale)
	}
	return out
}
