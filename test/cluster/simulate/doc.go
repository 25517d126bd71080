// Package simulate stands in for what a control plane without nodes lacks: the
// kubelet that runs pods, and the provider that makes managed resources real.
//
// Both change one thing at a time, in the order in which they learn of it, so
// that whoever watches sees every step of a rollout.
package simulate

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// again is how soon a thing is looked at again that is not what it should be.
const again = 250 * time.Millisecond

// A Simulator runs until ctx ends.
type Simulator interface {
	Run(ctx context.Context, cfg *rest.Config) error
}

// Start simulators that stop when the test ends.
func Start(t testing.TB, cfg *rest.Config, simulators ...Simulator) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	for _, s := range simulators {
		go func() { done <- s.Run(ctx, cfg) }()
	}
	t.Cleanup(func() {
		cancel()
		for range simulators {
			if err := <-done; err != nil {
				t.Errorf("%v", err)
			}
		}
	})
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
