// Package backoff computes the pauses between attempts.
package backoff

import (
	"math/rand/v2"
	"time"
)

// A Policy doubles the pause after each failed attempt, from First up to Most.
// Half of each pause is random, so that many clients do not try again at the same
// moment.
type Policy struct {
	First, Most time.Duration
	Rand        func() float64 // 0 to 1; nil: math/rand
}

// After returns the pause after n failed attempts in a row; n counts from 1.
func (p Policy) After(n int) time.Duration {
	d := p.First
	for range n - 1 {
		if d >= p.Most/2 {
			d = p.Most
			break
		}
		d *= 2
	}
	random := p.Rand
	if random == nil {
		random = rand.Float64
	}
	d = min(d, p.Most)
	return d/2 + time.Duration(random()*float64(d/2))
}
