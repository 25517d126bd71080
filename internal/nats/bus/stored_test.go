package bus_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// TestUnacknowledgedWrites writes to a bucket whose server answers no write: whatever subject
// a writer names for the answer, nothing comes there, and its own writes are confirmed.
func TestUnacknowledgedWrites(t *testing.T) {
	t.Parallel()
	b := natstest.Start(t).Connect(t)
	const bucket, key = names.ProgressBucket, "ns/artifact/fetch"
	if err := b.JetStream().DeleteStream(t.Context(), names.KVStream(bucket)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(t.Context(), bucket, key, 1); !errors.Is(err, nats.ErrNoResponders) {
		t.Fatalf("a write without the bucket ends with %v", err)
	}
	// A bucket of an earlier version answers.
	old, err := b.JetStream().CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: bucket})
	if err != nil {
		t.Fatal(err)
	}
	if revision, err := b.Put(t.Context(), bucket, key, 1); err != nil || revision != 1 {
		t.Fatalf("revision %d, %v", revision, err)
	}
	spec, _ := bus.Bucket(bucket)
	if err := b.EnsureKV(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	answers, err := b.Conn().SubscribeSync("answers")
	if err != nil {
		t.Fatal(err)
	}
	m := &nats.Msg{Subject: names.KVSubject(bucket, key), Reply: "answers", Data: []byte("2")}
	if err := b.Conn().PublishMsg(m); err != nil {
		t.Fatal(err)
	}
	if revision, err := b.Put(t.Context(), bucket, key, 3); err != nil || revision != 3 {
		t.Fatalf("revision %d, %v", revision, err)
	}
	if m, err := answers.NextMsg(100 * time.Millisecond); !errors.Is(err, nats.ErrTimeout) {
		t.Errorf("the server answered with %v, %v", m, err)
	}
	if err := b.Delete(t.Context(), bucket, key, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := old.Get(t.Context(), key); !errors.Is(err, jetstream.ErrKeyNotFound) {
		t.Errorf("after the deletion: %v", err)
	}
	if err := b.Delete(t.Context(), bucket, key, 4); err == nil {
		t.Error("the bucket accepted a conditional write")
	}
	if _, _, err := bus.Get[int](t.Context(), b, bucket, key); err == nil {
		t.Error("it exists again")
	}
}
