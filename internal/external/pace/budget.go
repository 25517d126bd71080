// Package pace keeps what Koldun tells Kubernetes within what Crossplane lets
// one composite take.
package pace

import "time"

// Crossplane's circuit breaker gives a composite a burst of 50 updates and then
// one per two seconds, its children's included. Three fifths of the burst and a
// fifth of the rate are left to what others change.
const (
	Burst     = 20  // updates
	PerSecond = 0.4 // updates

	// Change is how many updates a change of what a managed resource shows costs
	// the composite that it is composed by: its own, and what the composite then
	// says of itself.
	Change = 2
)

// A Budget is how many updates may still be caused. The zero Budget is full.
type Budget struct {
	Used float64   `json:"used"` // updates, as of At
	At   time.Time `json:"at"`
}

// Take uses n updates up if they are left at the moment now, and tells when
// they will be if not.
func (b *Budget) Take(n float64, now time.Time) (ok bool, at time.Time) {
	at = b.Left(n, now)
	if at.After(now) {
		return false, at
	}
	b.Used, b.At = b.usedAt(now)+n, now
	return true, now
}

// Left is when n updates are left: now, or later.
func (b *Budget) Left(n float64, now time.Time) time.Time {
	short := b.usedAt(now) + n - Burst
	if short <= 0 {
		return now
	}
	return now.Add(time.Duration(short / PerSecond * float64(time.Second)))
}

func (b *Budget) usedAt(now time.Time) float64 {
	return max(0, b.Used-max(0, now.Sub(b.At).Seconds())*PerSecond)
}
