package queue_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

func TestSweepRequests(t *testing.T) {
	b := connect(t, natstest.Start(t))
	ctx := testContext(t)
	publish := publisher(t, b)
	depths := func(want map[string]int) {
		t.Helper()
		for session, n := range want {
			if got, err := b.Depth(ctx, session); err != nil || got != n {
				t.Errorf("%d requests in session %s, %v, want %d", got, session, err, n)
			}
		}
	}
	publish("req_1", "s", "t")
	publish("req_2", "other", "t")
	publish("req_3", "s", "t")
	below := publish("req_4", "s", "t")
	depths(map[string]int{"s": 3, "other": 1})
	if err := b.Purge(ctx, "s", below); err != nil {
		t.Fatal(err)
	}
	depths(map[string]int{"s": 1, "other": 1})
	if err := b.Purge(ctx, "s", below+1); err != nil {
		t.Fatal(err)
	}
	depths(map[string]int{"s": 0, "other": 1})

	// A sequence of a lost stream removes nothing from its successor.
	if err := b.Manager().DeleteStream(ctx, names.RequestStream); err != nil {
		t.Fatal(err)
	}
	if err := b.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	if seq := publish("req_5", "s", "t"); seq <= below {
		t.Errorf("sequence %d in the new stream, %d in the one before", seq, below)
	}
	if err := b.Purge(ctx, "s", below+1); err != nil {
		t.Fatal(err)
	}
	if err := b.Queue.Delete(ctx, below); err != nil {
		t.Fatal(err)
	}
	depths(map[string]int{"s": 1})
}

// Sequences of a stream that Ensure did not create may repeat.
func TestForeignStreamsDoNotLast(t *testing.T) {
	nc, err := bus.Connect(t.Context(), bus.Config{URL: natstest.Start(t).URL(), User: natstest.User, Password: natstest.Password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	b := client{nc, queue.New(nc)}
	ctx := testContext(t)
	_, err = b.JetStream().CreateStream(ctx, jetstream.StreamConfig{Name: names.RequestStream, Subjects: []string{names.RequestSubjects}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Publish(ctx, request("req_1")); err != nil {
		t.Fatal(err)
	}
	entries := make(chan queue.Entry, 1)
	go b.Backlog(ctx, request("").Session, queue.BacklogReader{Entry: func(e queue.Entry) { entries <- e }, Again: func() {}, Current: func(uint64) {}})
	if e := waittest.Receive(t, "an entry", entries); e.Lasting {
		t.Errorf("entry %d lasts", e.Seq)
	}
}
