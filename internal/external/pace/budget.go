// Package pace keeps the rate of status updates within the limit of Crossplane's
// circuit breaker for one composite: docs/background/event-budget.md.
package pace

import "time"

// Crossplane's circuit breaker allows a composite a burst of 50 updates and then
// one per two seconds, including those of its children. The budget leaves three
// fifths of the burst and a fifth of the rate to others.
const (
	Burst     = 20  // updates
	PerSecond = 0.4 // updates

	// Change is the number of updates that a status change of a managed resource
	// costs its composite: its own, and that of the composite's status.
	Change = 2
)

// A Budget is the number of updates left. The zero Budget is full.
type Budget struct {
	Used float64   `json:"used"` // updates, as of At
	At   time.Time `json:"at"`
}

// Take uses n updates if they are left at the time now. Otherwise it returns when
// they will be.
func (b *Budget) Take(n float64, now time.Time) (ok bool, at time.Time) {
	at = b.Left(n, now)
	if at.After(now) {
		return false, at
	}
	b.Used, b.At = b.usedAt(now)+n, now
	return true, now
}

// Left returns when n updates are left: now, or later.
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
