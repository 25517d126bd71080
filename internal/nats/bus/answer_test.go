package bus_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"
)

// TestWatchAnswer follows an answer from before there is anybody who answers, through news and
// a restart of the server.
func TestWatchAnswer(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t)
	asker, server := srv.Connect(t), srv.Connect(t)
	ctx, stop := context.WithCancel(t.Context())
	answers, done := make(chan int64, 16), make(chan struct{})
	go func() {
		defer close(done)
		bus.WatchAnswer(ctx, asker, "ask", "news", func(n int64) { answers <- n })
	}()
	want := func(n int64) {
		t.Helper()
		waittest.Until(t, "the answer", func() bool { return waittest.Receive(t, "an answer", answers) == n })
	}
	var value atomic.Int64
	value.Store(1)
	quiet, err := bus.Serve(server, "ask", func(string, struct{}) (int64, bool) { return value.Load(), true })
	if err != nil {
		t.Fatal(err)
	}
	defer quiet()
	want(1)
	value.Store(2)
	if err := server.Send("news", ""); err != nil {
		t.Fatal(err)
	}
	want(2)
	value.Store(3)
	srv.Restart()
	want(3)
	stop()
	<-done
}
