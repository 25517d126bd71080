package modelrecord_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/external/modelrecord"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/manifest"
	"github.com/gorizond/koldun/internal/objectstore"
	"github.com/gorizond/koldun/internal/registry"
)

func TestLifeOfARecord(t *testing.T) {
	ctx := t.Context()
	s := natstest.Start(t)
	b, err := bus.Connect(ctx, bus.Config{URL: s.URL(), User: natstest.User, Password: natstest.Password, Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if err := b.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	store, err := objectstore.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	models := registry.Models(b)
	c := modelrecord.New(func(context.Context, string) (objectstore.Store, error) { return store, nil }, models)
	spec := modelrecord.Spec{Namespace: "ns", Name: "tiny", ArtifactURL: "s3://models/x"}

	if _, err := c.Observe(ctx, spec); !fault.Is(err, fault.NotFound) {
		t.Errorf("Observe without a manifest: %v, want NotFound", err)
	}
	if err := c.Create(ctx, spec); err == nil {
		t.Error("a model without a manifest is listed")
	}
	save := func(weights string) {
		m := manifest.Manifest{Kind: manifest.Converted, Name: "tiny", Weights: weights, Files: []manifest.File{{Path: "a", Size: 7, SHA256: strings.Repeat("0", 64)}}}
		if err := manifest.Save(ctx, store, m); err != nil {
			t.Fatal(err)
		}
	}
	save("q40")
	if o, err := c.Observe(ctx, spec); err != nil || o.Exists {
		t.Fatalf("Observe of no entry: %+v, %v", o, err)
	}
	if err := c.Create(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Observe(ctx, spec); err != nil || !o.Ready || o.Status.Key != "model/ns/tiny" {
		t.Fatalf("Observe after Create: %+v, %v", o, err)
	}
	save("f32")
	if o, err := c.Observe(ctx, spec); err != nil || !o.Exists || o.UpToDate || o.Ready {
		t.Fatalf("Observe of another manifest: %+v, %v", o, err)
	}
	if err := c.Update(ctx, spec); err != nil {
		t.Fatal(err)
	}
	r, err := models.Get(ctx, "model/ns/tiny")
	if err != nil || r.Value.Weights != "f32" || r.Value.Size != 7 {
		t.Errorf("the entry is %+v, %v", r.Value, err)
	}
	for range 2 {
		if err := c.Delete(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := models.Get(ctx, "model/ns/tiny"); !fault.Is(err, fault.NotFound) {
		t.Errorf("after Delete: %v, want NotFound", err)
	}
}
