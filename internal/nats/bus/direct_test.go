package bus_test

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// TestReadWithoutDirectGets reads a key of a bucket that another program has made.
func TestReadWithoutDirectGets(t *testing.T) {
	t.Parallel()
	b := natstest.Start(t).Connect(t)
	_, err := b.JetStream().CreateStream(t.Context(), jetstream.StreamConfig{Name: "KV_old", Subjects: []string{"$KV.old.>"}, MaxMsgsPerSubject: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(t.Context(), "old", "key", "value"); err != nil {
		t.Fatal(err)
	}
	got, _, err := bus.Get[string](t.Context(), b, "old", "key")
	if err != nil || got != "value" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestNoRollup checks that a write of one key cannot delete others.
func TestNoRollup(t *testing.T) {
	t.Parallel()
	b := natstest.Start(t).Connect(t)
	s, err := b.JetStream().Stream(t.Context(), "KV_"+names.ProgressBucket)
	if err != nil {
		t.Fatal(err)
	}
	// An earlier version allowed it.
	cfg := s.CachedInfo().Config
	cfg.AllowRollup = true
	if _, err := b.JetStream().UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if err := b.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"ns/a/fetch", "ns/b/fetch"} {
		if _, err := b.Put(t.Context(), names.ProgressBucket, key, 1); err != nil {
			t.Fatal(err)
		}
	}
	m := &nats.Msg{Subject: "$KV." + names.ProgressBucket + ".ns/a/fetch", Header: nats.Header{"Nats-Rollup": {"all"}}}
	if _, err := b.JetStream().PublishMsg(t.Context(), m); err == nil {
		t.Error("the server accepts a rollup")
	}
	if _, _, err := bus.Get[int](t.Context(), b, names.ProgressBucket, "ns/b/fetch"); err != nil {
		t.Error(err)
	}
}
