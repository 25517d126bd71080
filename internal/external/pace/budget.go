// Package pace keeps what Koldun tells Kubernetes within what Crossplane lets
// one composite take.
package pace

import "time"

// Crossplane's circuit breaker gives a composite a burst of 50 updates and then
// one per two seconds, its children's included. A third of the burst and a
// fifth of the rate are left to what others change.
const (
	Burst     = 32  // updates
	PerSecond = 0.4 // updates

	// Appear and Vanish are how many updates a child costs its parent until it
	// is there, and until it is gone.
	Appear = 8
	Vanish = 4

	// AppearPool is how many updates a pool costs the Ingress of which it is.
	// Seen on a real Crossplane (test/e2e): a Session is written 13 times and
	// more until it serves, and its Ingress 5 times to refer to it.
	AppearPool = 16
)

// A Budget is how many updates may still be caused. The zero Budget is full.
type Budget struct {
	Used float64   `json:"used"` // updates, as of At
	At   time.Time `json:"at"`
}

// Take uses n updates up if they are left at the moment now, and tells when
// they will be if not.
func (b *Budget) Take(n float64, now time.Time) (ok bool, at time.Time) {
	used := b.usedAt(now)
	if used+n > Burst {
		return false, now.Add(time.Duration((used + n - Burst) / PerSecond * float64(time.Second)))
	}
	b.Used, b.At = used+n, now
	return true, now
}

// Force uses n updates up, left or not.
func (b *Budget) Force(n float64, now time.Time) { b.Used, b.At = b.usedAt(now)+n, now }

func (b *Budget) usedAt(now time.Time) float64 {
	return max(0, b.Used-max(0, now.Sub(b.At).Seconds())*PerSecond)
}
