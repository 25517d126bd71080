package queue_test

import (
	"maps"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/waittest"
)

func TestSessions(t *testing.T) {
	srv := natstest.Start(t)
	b := connect(t, srv)
	ctx := testContext(t)
	told := make(chan map[string]int)
	go b.Sessions(ctx, func(open map[string]int) {
		select {
		case told <- open:
		case <-ctx.Done():
		}
	})
	want := func(open map[string]int) {
		t.Helper()
		var got map[string]int
		for patience := time.After(waittest.Patience); !maps.Equal(got, open); {
			select {
			case got = <-told:
			case <-patience:
				t.Fatalf("open sessions %v, want %v", got, open)
			}
		}
	}
	publish := publisher(t, b)
	want(map[string]int{})
	publish("req_1", "s", "t")
	publish("req_2", "s", "another")
	last := publish("req_3", "other", "t")
	want(map[string]int{"s": 2, "other": 1})
	if err := b.Queue.Delete(ctx, last); err != nil {
		t.Fatal(err)
	}
	want(map[string]int{"s": 2})

	// It continues after a restart of the server and the loss of the stream.
	srv.Restart()
	want(map[string]int{"s": 2})
	if err := b.Manager().DeleteStream(ctx, names.RequestStream); err != nil {
		t.Fatal(err)
	}
	if err := b.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	want(map[string]int{})
}
