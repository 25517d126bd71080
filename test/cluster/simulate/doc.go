// Package simulate simulates the kubelet, which runs pods, and the provider, which
// reconciles managed resources, on a control plane without nodes.
//
// Both change one object at a time, in the order of its events, so that a watch
// sees every step of a rollout.
package simulate

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// again is the retry interval for an object that is not in its desired state.
const again = 250 * time.Millisecond

// A Simulator runs until ctx ends.
type Simulator interface {
	Run(ctx context.Context, cfg *rest.Config) error
}

// Start starts simulators that stop when the test ends.
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

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
