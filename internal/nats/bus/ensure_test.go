package bus_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"
)

func TestEnsureAdoptsWhatThereIs(t *testing.T) {
	srv := natstest.Start(t)
	ctx := testContext(t)
	b, err := bus.Connect(ctx, bus.Config{URL: srv.URL(), User: natstest.User, Password: natstest.Password})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	js := b.JetStream()
	// An older bucket without TTLs per key, with a value; and a queue with
	// limits that a user set.
	old, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: names.RunnersBucket, History: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Put(ctx, "kept", []byte("1")); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{
		Name: names.RequestStream, Subjects: []string{names.RequestSubjects}, MaxMsgs: 7, Discard: jetstream.DiscardOld,
	}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 { // processes start together
		wg.Go(func() {
			if err := b.Ensure(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	waittest.Returns(t, "all have ensured it", wg.Wait)
	kv, err := js.KeyValue(ctx, names.RunnersBucket)
	if err != nil {
		t.Fatal(err)
	}
	status, err := kv.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if status.LimitMarkerTTL() == 0 || status.History() != 3 {
		t.Errorf("bucket: markers %v, history %d; want markers and the old history", status.LimitMarkerTTL(), status.History())
	}
	if _, err := kv.Get(ctx, "kept"); err != nil {
		t.Errorf("the old value: %v", err)
	}
	stream, err := js.Stream(ctx, names.RequestStream)
	if err != nil {
		t.Fatal(err)
	}
	if c := stream.CachedInfo().Config; c.MaxMsgs != 7 || c.Discard != jetstream.DiscardNew {
		t.Errorf("queue: %d messages, discard %v; want the old limit, discard new", c.MaxMsgs, c.Discard)
	}
}

func TestEnsureKVChangesInPlace(t *testing.T) {
	b := natstest.Start(t).Connect(t)
	ctx := testContext(t)
	spec := bus.KVSpec{Bucket: names.Bucket{Name: "own"}, History: 2, MaxValueSize: 100}
	for _, history := range []int{2, 5} {
		spec.History = history
		if err := b.EnsureKV(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	kv, err := b.JetStream().KeyValue(ctx, "own")
	if err != nil {
		t.Fatal(err)
	}
	if status, err := kv.Status(ctx); err != nil || status.History() != 5 {
		t.Errorf("status = %+v, %v", status, err)
	}
	if err := b.EnsureKV(ctx, bus.KVSpec{Bucket: names.Bucket{Name: "bad name"}}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a bad name: %v, want Invalid", err)
	}
}

func TestConnect(t *testing.T) {
	srv := natstest.Start(t)
	t.Run("WaitsForTheServer", func(t *testing.T) {
		srv.Stop()
		done := make(chan error, 1)
		go func() {
			b, err := bus.Connect(testContext(t), bus.Config{URL: srv.URL(), User: natstest.User, Password: natstest.Password})
			if err == nil {
				b.Close()
			}
			done <- err
		}()
		srv.Restart()
		if err := waittest.Receive(t, "the connection", done); err != nil {
			t.Error(err)
		}
	})
	cases := map[string]struct {
		cfg  bus.Config
		want fault.Kind
	}{
		"WrongPassword": {bus.Config{URL: srv.URL(), User: natstest.User, Password: "wrong"}, fault.Denied},
		"NobodyThere":   {bus.Config{URL: "nats://127.0.0.1:1"}, fault.Transient},
		"NoURL":         {bus.Config{}, fault.Invalid},
		"BadURL":        {bus.Config{URL: "nats://u:secret@h:port:1"}, fault.Invalid},
		"NoCreds":       {bus.Config{URL: srv.URL(), CredsFile: "/nonexistent"}, fault.NotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			// Connect retries until its context ends. On a busy machine the first
			// attempt may not finish in time.
			var err error
			for patience := 300 * time.Millisecond; patience < waittest.Patience; patience *= 2 {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				var b *bus.Bus
				if b, err = bus.Connect(ctx, c.cfg); err == nil {
					b.Close()
				}
				cancel()
				if fault.KindOf(err) == c.want {
					break
				}
			}
			if got := fault.KindOf(err); got != c.want {
				t.Errorf("Connect: %v (kind %q), want kind %q", err, got, c.want)
			}
		})
	}
}
