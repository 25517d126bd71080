package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

// A client is a bus and the queue on it.
type client struct {
	*bus.Bus
	*queue.Queue
}

// connect returns a client of a server with all streams and buckets.
func connect(tb testing.TB, srv *natstest.Server) client {
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
	return client{b, queue.New(b)}
}

func testContext(tb testing.TB) context.Context {
	tb.Helper()
	return waittest.Context(tb)
}

func request(id string) queue.Request {
	return queue.Request{ID: id, Session: "s", Tenant: "t", Model: "ns/m", Body: []byte(`{}`), Created: time.Now()}
}

// publisher queues requests of sessions and tenants, and returns their sequences.
func publisher(tb testing.TB, b client) func(id, session, tenant string) uint64 {
	tb.Helper()
	return func(id, session, tenant string) uint64 {
		tb.Helper()
		r := request(id)
		r.Session, r.Tenant = session, tenant
		seq, err := b.Publish(testContext(tb), r)
		if err != nil {
			tb.Fatal(err)
		}
		return seq
	}
}
