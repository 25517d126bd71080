package keyvalue_test

import (
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
)

func TestLifeOfABucket(t *testing.T) {
	ctx := t.Context()
	s := natstest.Start(t)
	b, err := bus.Connect(ctx, bus.Config{URL: s.URL(), User: natstest.User, Password: natstest.Password, Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	c := keyvalue.New(b, nil)
	spec := keyvalue.Spec{Bucket: "settings"}

	if o, err := c.Observe(ctx, spec); err != nil || o.Exists {
		t.Fatalf("Observe of nothing: %+v, %v", o, err)
	}
	if err := c.Create(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(ctx, "settings", "kept", 1); err != nil {
		t.Fatal(err)
	}
	minute := external.Duration(time.Minute)
	spec.LimitMarkerTTL = &minute
	if o, err := c.Observe(ctx, spec); err != nil || !o.Exists || o.UpToDate {
		t.Fatalf("Observe of a changed spec: %+v, %v", o, err)
	}
	if err := c.Update(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Observe(ctx, spec); err != nil || !o.UpToDate || !o.Ready {
		t.Fatalf("Observe after Update: %+v, %v", o, err)
	}
	if _, _, err := bus.Get[int](ctx, b, "settings", "kept"); err != nil {
		t.Errorf("get key after Update: %v", err)
	}
	if _, err := b.PutTTL(ctx, "settings", "short", 1, time.Second); err != nil {
		t.Errorf("put key with a TTL: %v", err)
	}
	for range 2 {
		if err := c.Delete(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
}
