package bus_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

func connected(t *testing.T) *bus.Bus {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Config{URL: natstest.Start(t).URL(), User: natstest.User, Password: natstest.Password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// Ensuring an existing stream keeps the settings that a spec cannot express or
// leaves to the server.
func TestEnsureKeepsWhatIsNotSpokenOf(t *testing.T) {
	ctx := t.Context()
	b := connected(t)
	made := jetstream.StreamConfig{
		Name: "THEIRS", Subjects: []string{"theirs.>"}, Description: "of somebody", Storage: jetstream.MemoryStorage,
		Metadata: map[string]string{"team": "a"}, Duplicates: time.Minute, MaxConsumers: 7,
	}
	s, err := b.JetStream().CreateStream(ctx, made)
	if err != nil {
		t.Fatal(err)
	}
	before := s.CachedInfo().Config
	spec := bus.StreamSpec{Stream: names.Stream{Name: "THEIRS", Subjects: made.Subjects, Dedupe: time.Minute}}
	if _, same, err := b.Manager().CompareStream(ctx, spec); err != nil || !same {
		t.Errorf("CompareStream: %v, %v, want the same", same, err)
	}
	if err := b.EnsureStream(ctx, spec); err != nil {
		t.Fatal(err)
	}
	after, err := b.JetStream().Stream(ctx, "THEIRS")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after.CachedInfo().Config); diff != "" {
		t.Errorf("the stream was changed (-before +after):\n%s", diff)
	}
}

// The duplicate window of a bucket is the server's default, and never longer
// than the TTL of its keys.
func TestBucketsWindowFollowsItsTTL(t *testing.T) {
	ctx := t.Context()
	b := connected(t)
	window := func() time.Duration {
		t.Helper()
		s, err := b.JetStream().Stream(ctx, "KV_window")
		if err != nil {
			t.Fatal(err)
		}
		return s.CachedInfo().Config.Duplicates
	}
	for _, c := range []struct{ ttl, want time.Duration }{{0, 2 * time.Minute}, {time.Minute, time.Minute}, {time.Hour, time.Minute}} {
		if err := b.EnsureKV(ctx, bus.KVSpec{Bucket: names.Bucket{Name: "window"}, TTL: c.ttl}); err != nil {
			t.Fatal(err)
		}
		if got := window(); got != c.want {
			t.Errorf("with a TTL of %s the window is %s, want %s", c.ttl, got, c.want)
		}
	}
}
