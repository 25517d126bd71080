package natstest

import (
	"context"
	"os"
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/nats"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
)

// An instance is a server in this process that a test can stop and start again over the
// same folder and port.
type instance struct {
	tb  testing.TB
	cfg nats.Config
	srv *nats.Server // nil while it is stopped
}

// startInstance runs a server in a folder of its own on a free loopback port until the test
// ends.
func startInstance(tb testing.TB, cfg nats.Config) *instance {
	tb.Helper()
	cfg.Dir, cfg.Listen = tb.TempDir(), porttest.Address(tb)
	s := &instance{tb: tb, cfg: cfg}
	s.Restart()
	tb.Cleanup(s.Stop)
	return s
}

// URL returns the address for clients. Restarts do not change it.
func (s *instance) URL() string { return "nats://" + s.cfg.Listen }

// Clients returns the number of connections to the server, which must run.
func (s *instance) Clients() int { return s.srv.Clients() }

// Stop stops the server and waits for it.
func (s *instance) Stop() {
	if s.srv == nil {
		return
	}
	s.srv.Close()
	s.srv = nil
}

// Restart stops the server if it runs and starts it again.
func (s *instance) Restart() {
	s.tb.Helper()
	s.Stop()
	srv, err := nats.Start(context.Background(), s.cfg)
	if err != nil {
		s.tb.Fatalf("cannot start a NATS server: %v", err)
	}
	s.srv = srv
}

// Copy restarts the server, and returns a copy of its data as it was in between.
func (s *instance) Copy() (dir string) {
	s.tb.Helper()
	s.Stop()
	defer s.Restart()
	return copyData(s.tb, s.cfg.Dir)
}

// Rollback restarts the server with data that Copy has returned: it loses what it has
// stored since then, as after a loss of power.
func (s *instance) Rollback(dir string) {
	s.tb.Helper()
	s.Stop()
	s.cfg.Dir = copyData(s.tb, dir)
	s.Restart()
}

func copyData(tb testing.TB, dir string) string {
	tb.Helper()
	to := tb.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		tb.Fatal(err)
	}
	return to
}

// Wipe restarts the server without its data.
func (s *instance) Wipe() {
	s.tb.Helper()
	s.Stop()
	s.cfg.Dir = s.tb.TempDir()
	s.Restart()
}
