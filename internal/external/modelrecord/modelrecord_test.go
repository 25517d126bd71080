package modelrecord_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/external/modelrecord"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/manifest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/objectstore"
	"github.com/gorizond/koldun/internal/objectstore/dir"
	"github.com/gorizond/koldun/internal/registry"
)

func TestLifeOfARecord(t *testing.T) {
	ctx := t.Context()
	store, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	models, c := world(t, func(context.Context, string) (objectstore.Store, error) { return store, nil })
	spec := modelrecord.Spec{Namespace: "ns", Name: "tiny", ArtifactURL: "s3://models/x"}

	if o, err := c.Observe(ctx, spec); err != nil || o.Exists {
		t.Errorf("Observe without a manifest: %+v, %v, want nothing", o, err)
	}
	if err := c.Create(ctx, spec); !fault.Is(err, fault.NotFound) {
		t.Errorf("Create without a manifest: %v, want NotFound", err)
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
	if err := store.Remove(ctx, names.Manifest); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Observe(ctx, spec); err != nil || !o.Exists || o.UpToDate || o.Ready {
		t.Errorf("Observe of an entry whose manifest is gone: %+v, %v", o, err)
	}
	if err := c.Update(ctx, spec); !fault.Is(err, fault.NotFound) {
		t.Errorf("Update without a manifest: %v, want NotFound", err)
	}
	if list, err := models.List(ctx, ">"); err != nil || len(list) != 0 {
		t.Errorf("a model without a manifest is listed: %+v, %v", list, err)
	}
	save("f32")
	if err := c.Create(ctx, spec); err != nil {
		t.Fatal(err)
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

// The files of such a model are in a volume.
func TestRecordWithoutArtifact(t *testing.T) {
	ctx := t.Context()
	models, c := world(t, func(context.Context, string) (objectstore.Store, error) {
		return nil, errors.New("the object store is asked for")
	})
	spec := modelrecord.Spec{Namespace: "ns", Name: "tiny", SizeBytes: 7, Weights: "q40"}
	if err := c.Create(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Observe(ctx, spec); err != nil || !o.Ready || !o.UpToDate || o.Status.ManifestSHA256 != "" {
		t.Errorf("Observe: %+v, %v", o, err)
	}
	spec.SizeBytes = 8
	if o, err := c.Observe(ctx, spec); err != nil || o.UpToDate {
		t.Errorf("Observe of another size: %+v, %v", o, err)
	}
	if err := c.Update(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if r, err := models.Get(ctx, "model/ns/tiny"); err != nil || r.Value.Size != 8 || r.Value.Weights != "q40" || r.Value.Created.IsZero() {
		t.Errorf("the entry is %+v, %v", r.Value, err)
	}
}

// TestTwoRecordsOfOneModel checks that a spec without files neither replaces nor deletes an
// entry with files.
func TestTwoRecordsOfOneModel(t *testing.T) {
	ctx := t.Context()
	models, c := world(t, nil)
	files := modelrecord.Spec{Namespace: "ns", Name: "tiny", SizeBytes: 7, Weights: "q40"}
	bare := modelrecord.Spec{Namespace: "ns", Name: "tiny"}
	size := func() int64 {
		t.Helper()
		r, err := models.Get(ctx, "model/ns/tiny")
		if err != nil {
			t.Fatal(err)
		}
		return r.Value.Size
	}
	if err := c.Create(ctx, bare); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Observe(ctx, files); err != nil || o.UpToDate {
		t.Errorf("Observe of files: %+v, %v", o, err)
	}
	if err := c.Update(ctx, files); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Observe(ctx, bare); err != nil || !o.UpToDate || !o.Ready {
		t.Errorf("Observe without files: %+v, %v", o, err)
	}
	if o, err := c.Observe(ctx, files); err != nil || !o.UpToDate || !o.Ready {
		t.Errorf("Observe of files beside the other spec: %+v, %v", o, err)
	}
	if err := c.Delete(ctx, bare); err != nil || size() != 7 {
		t.Errorf("Delete: %v, of %d bytes", err, size())
	}
	if err := c.Delete(ctx, files); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Observe(ctx, bare); err != nil || o.Exists {
		t.Errorf("Observe after both are deleted: %+v, %v", o, err)
	}
}

// TestFilesAreNotThereYet checks that a resource that waits for its files leaves the entry of
// one without files as it is.
func TestFilesAreNotThereYet(t *testing.T) {
	ctx := t.Context()
	store, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	models, c := world(t, func(context.Context, string) (objectstore.Store, error) { return store, nil })
	bare := modelrecord.Spec{Namespace: "ns", Name: "tiny"}
	if err := c.Create(ctx, bare); err != nil {
		t.Fatal(err)
	}
	before, err := models.Get(ctx, "model/ns/tiny")
	if err != nil {
		t.Fatal(err)
	}
	files := modelrecord.Spec{Namespace: "ns", Name: "tiny", ArtifactURL: "s3://models/x"}
	if err := c.Update(ctx, files); !fault.Is(err, fault.NotFound) {
		t.Errorf("Update without a manifest: %v, want NotFound", err)
	}
	if after, err := models.Get(ctx, "model/ns/tiny"); err != nil || after.Revision != before.Revision {
		t.Errorf("it wrote the entry: %+v, %v", after, err)
	}
	if o, err := c.Observe(ctx, bare); err != nil || !o.UpToDate || !o.Ready {
		t.Errorf("Observe without files: %+v, %v", o, err)
	}
}

// TestFilesOfARecordEnd checks that a resource whose spec no longer describes files leaves
// nothing behind.
func TestFilesOfARecordEnd(t *testing.T) {
	ctx := t.Context()
	models, c := world(t, nil)
	bare := modelrecord.Spec{Namespace: "ns", Name: "tiny"}
	for name, change := range map[string][2]modelrecord.Spec{
		"FilesToNone": {{Namespace: "ns", Name: "tiny", SizeBytes: 7, Weights: "q40"}, bare},
		"NoneToFiles": {bare, {Namespace: "ns", Name: "tiny", SizeBytes: 7, Weights: "q40"}},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := change[0], change[1]
			if err := c.Create(ctx, before); err != nil {
				t.Fatal(err)
			}
			if o, err := c.Observe(ctx, after); err != nil || !o.Exists || o.UpToDate {
				t.Errorf("Observe of the changed spec: %+v, %v", o, err)
			}
			if err := c.Update(ctx, after); err != nil {
				t.Fatal(err)
			}
			r, err := models.Get(ctx, "model/ns/tiny")
			if err != nil || r.Value.Size != after.SizeBytes {
				t.Errorf("the entry is %+v, %v", r.Value, err)
			}
			if err := c.Delete(ctx, after); err != nil {
				t.Fatal(err)
			}
			if list, err := models.List(ctx, ">"); err != nil || len(list) != 0 {
				t.Errorf("after Delete: %+v, %v", list, err)
			}
		})
	}
}

func world(t *testing.T, open modelartifact.Stores) (*registry.Table[registry.Model], *modelrecord.Client) {
	t.Helper()
	models := registry.Models(natstest.Start(t).Connect(t))
	return models, modelrecord.New(open, models)
}

// The deletion of a resource that describes an entry of another namespace leaves
// that entry as it is.
func TestForeignEntryStays(t *testing.T) {
	models, c := world(t, nil)
	spec := modelrecord.Spec{Namespace: "victim", Name: "m", SizeBytes: 7}
	if err := c.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	spec.Foreign = true
	if o, err := c.Observe(t.Context(), spec); err != nil || o.Exists {
		t.Errorf("Observe: %+v, %v, want nothing to delete", o, err)
	}
	if err := c.Delete(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if r, err := models.Get(t.Context(), "model/victim/m"); err != nil || r.Value.Size != 7 {
		t.Errorf("the entry: %+v, %v", r, err)
	}
}
