package bus_test

import (
	"context"
	"testing"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/waittest"
)

// connect returns a bus with everything ensured.
func connect(tb testing.TB, srv *natstest.Server) *bus.Bus {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Patience)
	defer cancel()
	b, err := bus.Connect(ctx, bus.Config{URL: srv.URL(), User: natstest.User, Password: natstest.Password, Name: tb.Name()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(b.Close)
	if err := b.Ensure(ctx); err != nil {
		tb.Fatal(err)
	}
	return b
}

func testContext(tb testing.TB) context.Context {
	tb.Helper()
	return waittest.Context(tb)
}
