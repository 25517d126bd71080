package supervise

import "time"

const (
	firstDelay = 100 * time.Millisecond
	// lastDelay leaves a worker one of the three seconds that a root waits
	// before it retries.
	lastDelay = 2 * time.Second
	// atOnce is the shortest life that counts as a successful start.
	atOnce = time.Second
	// tooMany consecutive failures, in about two minutes, make the process
	// unhealthy.
	tooMany = 60
)

// A backoff counts consecutive failures.
type backoff struct{ failures int }

// next returns the pause before the next start after a life of that length. It is
// 0 unless the process has repeatedly ended at once.
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
