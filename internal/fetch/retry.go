package fetch

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// Retries. The clients below retry requests on their own; these are for
// connections that break later and for longer troubles.
const (
	attempts     = 8
	backoffFirst = 200 * time.Millisecond
	backoffMost  = 15 * time.Second
)

// backoff is the pause before try number n+1: it doubles, half of it random.
func backoff(n int) time.Duration {
	d := backoffMost
	if n < 8 {
		d = min(d, backoffFirst<<(n-1))
	}
	return d/2 + rand.N(d/2)
}

// A retrier tries again.
type retrier struct {
	log   *slog.Logger
	sleep func(ctx context.Context, d time.Duration) error
}

// retry calls f until it succeeds, fails with another error than a Transient
// one, or has had all its tries.
func (r retrier) retry(ctx context.Context, f func() error) error {
	for n := 1; ; n++ {
		err := f()
		if err == nil || ctx.Err() != nil || !fault.Is(err, fault.Transient) || n == attempts {
			return err
		}
		r.log.WarnContext(ctx, "trying again", "try", n, "error", err)
		if err := r.sleep(ctx, backoff(n)); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
