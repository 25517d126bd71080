package bus_test

import (
	"context"
	"testing"
	"time"

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

func request(id string) bus.Request {
	return bus.Request{ID: id, Session: "s", Tenant: "t", Model: "ns/m", Body: []byte(`{}`), Created: time.Now()}
}

// publisher queues requests of sessions and tenants, and returns their sequences.
func publisher(tb testing.TB, b *bus.Bus) func(id, session, tenant string) uint64 {
	tb.Helper()
	return func(id, session, tenant string) uint64 {
		tb.Helper()
		r := request(id)
		r.Session, r.Tenant = session, tenant
		seq, err := b.PublishRequest(testContext(tb), r)
		if err != nil {
			tb.Fatal(err)
		}
		return seq
	}
}
