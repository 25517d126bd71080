package supervise

import "time"

const (
	firstDelay = 100 * time.Millisecond
	// lastDelay leaves a worker a second to be back within the three that
	// a root waits before it tries again.
	lastDelay = 2 * time.Second
	// atOnce is the life below which an end counts as a failure to start.
	atOnce = time.Second
	// tooMany failures in a row, about two minutes of them, make the process
	// unhealthy, so that who runs the container sees it.
	tooMany = 60
)

// A backoff counts failures in a row.
type backoff struct{ failures int }

// next is how long to wait before the start after a life of that length: not
// at all, unless it has become a habit to end at once.
func (b *backoff) next(life time.Duration) time.Duration {
	if life >= atOnce {
		b.failures = 0
		return 0
	}
	b.failures++
	if b.failures == 1 {
		return 0
	}
	delay := firstDelay
	for i := 2; i < b.failures && delay < lastDelay; i++ {
		delay *= 2
	}
	return min(delay, lastDelay)
}

// healthy reports whether a start may still succeed.
func (b *backoff) healthy() bool { return b.failures < tooMany }
