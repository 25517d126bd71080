package cluster

import (
	"context"
	"sync"
	"testing"
	"time"
)

// A Shared cluster starts with the first test of a test binary that needs it, and
// stops with the binary:
//
//	var shared cluster.Shared
//
//	func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
//
//	func TestSomething(t *testing.T) { c := shared.Cluster(t) ... }
type Shared struct {
	Options Options

	once    sync.Once
	cluster *Cluster
	err     error
}

// Main runs the tests, stops the cluster, and returns the exit status.
func (s *Shared) Main(m *testing.M) int {
	status := m.Run()
	s.Stop()
	return status
}

// Stop stops the cluster if it runs. Main calls it.
func (s *Shared) Stop() {
	if s.cluster != nil {
		s.cluster.Close()
	}
}

// Cluster returns the running cluster. It skips the test if the programs are
// not built, and fails it if the cluster cannot start.
func (s *Shared) Cluster(t testing.TB) *Cluster {
	t.Helper()
	// Do not use the context of this test: other tests use the cluster.
	s.once.Do(func() {
		begin := time.Now()
		s.cluster, s.err = start(context.Background(), s.Options)
		if s.err == nil {
			t.Logf("cluster started in %s", time.Since(begin).Round(100*time.Millisecond))
		}
	})
	if s.err != nil {
		refuse(t, s.err)
	}
	s.cluster.watch(t)
	return s.cluster
}
