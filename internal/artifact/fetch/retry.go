package fetch

import (
	"context"
	"log/slog"
	"time"

	"github.com/gorizond/koldun/internal/backoff"
	"github.com/gorizond/koldun/internal/fault"
)

// Retries. The clients of hub and store retry requests themselves; these are for
// connections that break later and for longer outages.
const (
	attempts     = 8
	firstPause   = 200 * time.Millisecond
	longestPause = 15 * time.Second
)

// pause returns the pause after n failed attempts in a row.
func pause(n int) time.Duration {
	return backoff.Policy{First: firstPause, Most: longestPause}.After(n)
}

// A retrier repeats calls.
type retrier struct {
	log   *slog.Logger
	waits *waits
	sleep func(ctx context.Context, d time.Duration) error
}

// retry calls f until it succeeds, fails with an error that is not Transient, or
// has used all attempts.
func (r retrier) retry(ctx context.Context, f func() error) error {
	w := r.waits.call()
	defer w.end()
	for n := 1; ; n++ {
		err := f()
		if err == nil || ctx.Err() != nil || !fault.Is(err, fault.Transient) || n == attempts {
			return err
		}
		r.log.WarnContext(ctx, "retrying", "attempt", n, "error", err)
		w.failed(n, err)
		if err := r.sleep(ctx, pause(n)); err != nil {
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
