package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/waittest"
)

const (
	// pollFirst is the first interval of a poll. It grows to an eighth of the time that
	// has passed, because a look at the API server costs CPU time that others need, and
	// to pollLast at most.
	pollFirst = 50 * time.Millisecond
	pollLast  = 500 * time.Millisecond
	// eventually is the time limit of Eventually. It is long because what has to happen
	// may take many steps of many programs.
	eventually = 5 * time.Minute
)

// Poll calls ready until it returns nil or ctx ends. The error then wraps the last
// one of ready.
func Poll(ctx context.Context, ready func(context.Context) error) error {
	var last error
	began := time.Now()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err // keep the cause, not the timeout
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last error: %w", context.Cause(ctx), last)
		case <-time.After(interval(time.Since(began))):
		}
	}
}

// interval returns the interval of a poll that has taken so long.
func interval(passed time.Duration) time.Duration {
	return min(max(passed/8, pollFirst), pollLast)
}

// Eventually polls until ready returns nil. It fails the test with the last error of
// ready after some minutes, more on a slow machine. Cleanups may call it.
func Eventually(t testing.TB, what string, ready func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), waittest.Limit(eventually))
	defer cancel()
	if err := Poll(ctx, ready); err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}
