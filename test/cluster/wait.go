package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"
)

const (
	// pollEvery is how often is looked again.
	pollEvery = 50 * time.Millisecond
	// eventually is how long anything may take in the end. It is not a measure
	// of speed: machines that run this also compile.
	eventually = 5 * time.Minute
)

// poll until ready returns nil. The error tells what it returned at last.
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
			last = err // and not that the time is over
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; at last: %w", context.Cause(ctx), last)
		case <-tick.C:
		}
	}
}

// Eventually polls until ready returns nil, and fails the test with what it
// returned at last if that takes minutes.
func Eventually(t testing.TB, what string, ready func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventually)
	defer cancel()
	if err := poll(ctx, ready); err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}
