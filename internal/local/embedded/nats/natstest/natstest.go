// Package natstest starts real NATS servers for tests.
package natstest

import (
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/nats"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"
)

// User and Password are the credentials of a Server, and of a Cluster.
const (
	User     = "koldun"
	Password = "test-password"
)

// A Server is a NATS server with one login for all clients.
type Server struct{ *instance }

// Start runs a server on a free loopback port until the test ends.
func Start(tb testing.TB) *Server {
	tb.Helper()
	return &Server{startInstance(tb, nats.Config{User: User, Password: Password})}
}

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
