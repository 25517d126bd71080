// Package controllers runs the controllers of the Crossplane provider in the
// process of a test, on a control plane that all tests of a package share.
package controllers

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/gorizond/koldun/provider/manager"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/waittest"
)

// Shared is a control plane without Crossplane, and the provider's controllers.
// The first test that needs them starts them. It is safe for concurrent use:
//
//	var shared = controllers.New()
//
//	func TestMain(m *testing.M) {
//		status := m.Run()
//		shared.Stop()
//		os.Exit(status)
//	}
type Shared struct {
	once    sync.Once
	cluster cluster.Shared
	cancel  context.CancelFunc
	ended   chan error
	err     error
}

// New returns a control plane and controllers that do not run yet.
func New() *Shared {
	return &Shared{cluster: cluster.Shared{Options: cluster.Options{ControlPlaneOnly: true}}}
}

// Cluster returns the control plane, with the controllers running on it as the
// provider's program runs them, except that they poll rarely.
func (s *Shared) Cluster(t testing.TB) *cluster.Cluster {
	t.Helper()
	c := s.cluster.Cluster(t)
	s.once.Do(func() { s.err = s.start(t.Context(), c) })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return c
}

func (s *Shared) start(ctx context.Context, c *cluster.Cluster) error {
	log.SetLogger(logr.Discard()) // or controller-runtime complains
	if err := c.Apply(ctx, cluster.Definitions(cluster.ManagedGroup)...); err != nil {
		return err
	}
	// Not the context of this test: others use the controllers.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m, err := manager.New(ctx, c.Config(), manager.Options{
		Log: logging.NewNopLogger(), PollInterval: time.Hour, MaxReconciles: 100, Metrics: "0",
	})
	if err != nil {
		cancel()
		return err
	}
	s.cancel, s.ended = cancel, make(chan error, 1)
	go func() { s.ended <- m.Start(ctx) }()
	return nil
}

// Stop stops the controllers and the control plane, if they run.
func (s *Shared) Stop() {
	if s.cancel != nil {
		s.cancel()
		select {
		case err := <-s.ended:
			if err != nil {
				fmt.Fprintln(os.Stderr, "the controllers ended with:", err)
			}
		case <-time.After(waittest.Patience):
			fmt.Fprintln(os.Stderr, "the controllers do not end")
		}
	}
	s.cluster.Stop()
}
