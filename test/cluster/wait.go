package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"
)

const (
	// pollEvery is the poll interval.
	pollEvery = 50 * time.Millisecond
	// eventually is the time limit of Eventually. It is long because the machine
	// may be compiling as well.
	eventually = 5 * time.Minute
)

// poll calls ready until it returns nil or ctx ends. The error then wraps the last
// one of ready.
func poll(ctx context.Context, ready func(context.Context) error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var last error
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
		case <-tick.C:
		}
	}
}

// Eventually polls until ready returns nil. It fails the test with the last error of
// ready after some minutes.
func Eventually(t testing.TB, what string, ready func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventually)
	defer cancel()
	if err := poll(ctx, ready); err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}
