package stream_test

import (
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
)

func TestLifeOfAStream(t *testing.T) {
	ctx := t.Context()
	b := connect(t)
	c := stream.New(b, map[string][]byte{"NATS_URL": []byte("nats://x")})
	day := external.Duration(24 * time.Hour)
	spec := stream.Spec{Name: "WORK", Subjects: []string{"work.>"}, Discard: "new", MaxBytes: 1 << 20, MaxAge: &day}

	o, err := c.Observe(ctx, spec)
	if err != nil || o.Exists {
		t.Fatalf("Observe of nothing: %+v, %v", o, err)
	}
	for range 2 { // may be repeated
		if err := c.Create(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	if o, err = c.Observe(ctx, spec); err != nil || !o.Exists || !o.UpToDate || !o.Ready || string(o.Connection["NATS_URL"]) != "nats://x" {
		t.Fatalf("Observe after Create: %+v, %v", o, err)
	}
	if _, err := b.JetStream().Publish(ctx, "work.1", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	spec.MaxBytes = 2 << 20
	if o, err = c.Observe(ctx, spec); err != nil || o.UpToDate {
		t.Fatalf("Observe of a changed spec: %+v, %v", o, err)
	}
	if err := c.Update(ctx, spec); err != nil {
		t.Fatal(err)
	}
	s, err := b.JetStream().Stream(ctx, "WORK")
	if err != nil {
		t.Fatal(err)
	}
	if info := s.CachedInfo(); info.Config.MaxBytes != 2<<20 || info.State.Msgs != 1 {
		t.Errorf("stream after Update: got limit of %d bytes and %d messages, want 2 MiB and 1 message", info.Config.MaxBytes, info.State.Msgs)
	}
	for range 2 { // no stream is no error
		if err := c.Delete(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	if o, err = c.Observe(ctx, spec); err != nil || o.Exists {
		t.Errorf("Observe after Delete: %+v, %v", o, err)
	}
}

func connect(t *testing.T) *bus.Bus {
	t.Helper()
	s := natstest.Start(t)
	b, err := bus.Connect(t.Context(), bus.Config{URL: s.URL(), User: natstest.User, Password: natstest.Password, Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}
