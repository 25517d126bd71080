// Package natstest starts real NATS servers for tests.
package natstest

import (
	"context"
	"os"
	"testing"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats"
	"github.com/gorizond/koldun/internal/httpserver/porttest"
	"github.com/gorizond/koldun/internal/waittest"
)

// User and Password are the credentials of every server of this package.
const (
	User     = "koldun"
	Password = "test-password"
)

// A Server is a NATS server that a test can stop and start again over the same
// folder and port.
type Server struct {
	tb     testing.TB
	dir    string
	listen string
	srv    *nats.Server
}

// Start runs a server on a free loopback port until the test ends.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{tb: tb, dir: tb.TempDir(), listen: porttest.Address(tb)}
	s.Restart()
	tb.Cleanup(func() { s.Stop() })
	return s
}

// URL returns the address for clients. Restarts do not change it.
func (s *Server) URL() string { return "nats://" + s.listen }

// Connect returns a connection to the server, on which Koldun's streams and buckets
// exist, until the test ends.
func (s *Server) Connect(tb testing.TB) *bus.Bus {
	tb.Helper()
	ctx := waittest.Context(tb)
	b, err := bus.Connect(ctx, bus.Config{URL: s.URL(), User: User, Password: Password, Name: tb.Name()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(b.Close)
	if err := b.Ensure(ctx); err != nil {
		tb.Fatal(err)
	}
	return b
}

// Clients returns the number of connections to the server, which must run.
func (s *Server) Clients() int { return s.srv.Clients() }

// Stop stops the server and waits for it.
func (s *Server) Stop() {
	if s.srv == nil {
		return
	}
	s.srv.Close()
	s.srv = nil
}

// Copy restarts the server, and returns a copy of its data as it was in between.
func (s *Server) Copy() (dir string) {
	s.tb.Helper()
	s.Stop()
	defer s.Restart()
	return copyData(s.tb, s.dir)
}

// Rollback restarts the server with data that Copy has returned: it loses what it has
// stored since then, as after a loss of power.
func (s *Server) Rollback(dir string) {
	s.tb.Helper()
	s.Stop()
	s.dir = copyData(s.tb, dir)
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
func (s *Server) Wipe() {
	s.tb.Helper()
	s.Stop()
	s.dir = s.tb.TempDir()
	s.Restart()
}

// Restart stops the server if it runs and starts it again.
func (s *Server) Restart() {
	s.tb.Helper()
	s.Stop()
	srv, err := nats.Start(context.Background(), nats.Config{
		Dir: s.dir, Listen: s.listen, User: User, Password: Password,
	})
	if err != nil {
		s.tb.Fatalf("cannot start a NATS server: %v", err)
	}
	s.srv = srv
}
