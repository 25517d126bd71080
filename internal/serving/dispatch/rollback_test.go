package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

// TestTailOfTheStreamIsLost restores an older copy of the data of NATS under a running
// dispatcher, and stores requests at the sequences that the dispatcher has read before.
// Each of them must end once, as every request that was there all the time.
func TestTailOfTheStreamIsLost(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t)
	own := srv.Connect(t)
	ctx, cancel := context.WithCancel(waittest.Context(t))
	done := make(chan error, 1)
	go func() { done <- Run(ctx, Config{Bus: own, Identity: "d", Logger: slog.New(slog.DiscardHandler)}) }()
	t.Cleanup(func() {
		cancel()
		if err := waittest.Receive(t, "the dispatcher to end", done); err != nil {
			t.Error(err)
		}
	})
	publish := func(name string, n int, waits time.Duration) (all []queue.Ref) {
		t.Helper()
		b, err := bus.Connect(ctx, bus.Config{URL: srv.URL(), User: natstest.User, Password: natstest.Password})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for i := range n {
			now := time.Now()
			r := queue.Request{ID: fmt.Sprintf("req_%s%d", name, i), Session: "s", Tenant: "t", Created: now, Deadline: now.Add(waits)}
			if _, err := queue.New(b).Publish(ctx, r); err != nil {
				t.Fatal(err)
			}
			all = append(all, r.Ref())
		}
		return all
	}
	look := srv.Connect(t)
	ended := func(all []queue.Ref) {
		t.Helper()
		for _, ref := range all {
			waittest.Until(t, "the end of "+ref.ID, func() bool {
				o, err := queue.New(look).Outcome(ctx, ref)
				return err == nil && o.State == queue.Expired
			})
		}
	}
	const short = 50 * time.Millisecond
	ended(publish("before", 1, short)) // the dispatcher leads
	stays := publish("stays", 2, 8*time.Second)
	copied := srv.Copy()
	ended(publish("lost", 5, short))
	srv.Rollback(copied)
	ended(publish("reuses", 9, short))
	ended(stays)
	waittest.Until(t, "an empty queue", func() bool {
		stream, err := look.JetStream().Stream(ctx, names.RequestStream)
		return err == nil && stream.CachedInfo().State.Msgs == 0
	})
}
