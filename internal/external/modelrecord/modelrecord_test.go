package modelrecord_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/external/modelrecord"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/registry"
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

// A resource applies specs one after another as the provider does, with what the last
// observation said.
type resource struct {
	t *testing.T
	c *modelrecord.Client
	modelrecord.Status
}

// apply makes the entry match a spec of model ns/tiny. With bytes it describes files.
func (r *resource) apply(bytes int64) {
	r.t.Helper()
	s := r.spec(bytes)
	o, err := r.c.Observe(r.t.Context(), s)
	if err == nil && !o.UpToDate {
		change := r.c.Update
		if !o.Exists {
			change = r.c.Create
		}
		if err = change(r.t.Context(), s); err == nil {
			o, err = r.c.Observe(r.t.Context(), s)
		}
	}
	if err != nil || !o.UpToDate || !o.Ready || o.Status.Files != (bytes > 0) {
		r.t.Fatalf("after the change to %d bytes: %+v, %v", bytes, o, err)
	}
	r.Status = o.Status
}

func (r *resource) delete(bytes int64) {
	r.t.Helper()
	if err := r.c.Delete(r.t.Context(), r.spec(bytes)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *resource) spec(bytes int64) modelrecord.Spec {
	s := modelrecord.Spec{Namespace: "ns", Name: "tiny", SizeBytes: bytes, Described: r.Files}
	if bytes > 0 {
		s.Weights = "q40"
	}
	return s
}

// TestTwoRecordsOfOneModel checks that of two resources of one entry, of which one describes
// files, neither overwrites or deletes what the other one describes.
func TestTwoRecordsOfOneModel(t *testing.T) {
	for name, filesFirst := range map[string]bool{"FilesFirst": true, "FilesLast": false} {
		for name2, filesGoFirst := range map[string]bool{"FilesGoFirst": true, "FilesGoLast": false} {
			t.Run(name+name2, func(t *testing.T) {
				models, c := world(t, nil)
				files, bare := &resource{t: t, c: c}, &resource{t: t, c: c}
				sizes := func() (out []int64) {
					list, err := models.List(t.Context(), ">")
					if err != nil {
						t.Fatal(err)
					}
					for _, m := range list {
						out = append(out, m.Value.Size)
					}
					return out
				}
				if filesFirst {
					files.apply(7)
				}
				for range 2 { // files that come last are written without the other's mark
					bare.apply(0)
					files.apply(7)
				}
				if got := sizes(); !slices.Equal(got, []int64{7}) {
					t.Errorf("both list %v, want an entry of 7 bytes", got)
				}
				before, err := models.Get(t.Context(), "model/ns/tiny")
				if err != nil {
					t.Fatal(err)
				}
				bare.apply(0)
				files.apply(7)
				if after, err := models.Get(t.Context(), "model/ns/tiny"); err != nil || after.Revision != before.Revision {
					t.Errorf("an observation writes: %+v, %v", after, err)
				}
				if filesGoFirst {
					files.delete(7)
					if got := sizes(); !slices.Equal(got, []int64{0}) {
						t.Errorf("without files it lists %v, want an entry of 0 bytes", got)
					}
					bare.delete(0)
				} else {
					bare.delete(0)
					if got := sizes(); !slices.Equal(got, []int64{7}) {
						t.Errorf("with files it lists %v, want an entry of 7 bytes", got)
					}
					files.delete(7)
				}
				if got := sizes(); len(got) > 0 {
					t.Errorf("after both are deleted, it lists %v", got)
				}
			})
		}
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

// TestFilesOfARecordComeAndGo checks that a resource whose spec gets files, or loses them,
// leaves nothing behind, even if it is deleted before the change is applied.
func TestFilesOfARecordComeAndGo(t *testing.T) {
	for name, c := range map[string]struct{ before, after int64 }{"Go": {7, 0}, "Come": {0, 7}, "Change": {7, 8}} {
		for name2, applied := range map[string]bool{"Applied": true, "NotApplied": false} {
			t.Run(name+name2, func(t *testing.T) {
				models, client := world(t, nil)
				r := &resource{t: t, c: client}
				r.apply(c.before)
				if applied {
					r.apply(c.after)
					if m, err := models.Get(t.Context(), "model/ns/tiny"); err != nil || m.Value.Size != c.after || m.Value.Bare != (c.after == 0) {
						t.Errorf("the entry is %+v, %v", m.Value, err)
					}
				}
				r.delete(c.after)
				if list, err := models.List(t.Context(), ">"); err != nil || len(list) != 0 {
					t.Errorf("after it is deleted: %+v, %v", list, err)
				}
			})
		}
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
