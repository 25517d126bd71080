package fetch_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gorizond/koldun/internal/artifact/fetch"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/names"
)

// fetched returns a bucket that holds a complete model.
func fetched(t *testing.T) (objectstore.Store, manifest.Manifest) {
	t.Helper()
	from := s3test.New(t).Store(t, "source")
	h := hubtest.New(t, hubtest.Options{}, repo())
	return from, mustRun(t, config(t, h, from))
}

func copyConfig(t *testing.T, from, to objectstore.Store) fetch.CopyConfig {
	t.Helper()
	return fetch.CopyConfig{From: from, To: to, Options: fetch.Options{PartSize: part, Concurrency: 4, Log: testLog(t)}}
}

func mustCopy(t *testing.T, cfg fetch.CopyConfig) manifest.Manifest {
	t.Helper()
	m, err := fetch.Copy(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCopies(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, to objectstore.Store) {
		from, want := fetched(t)
		var seen reports
		cfg := copyConfig(t, from, to)
		cfg.Progress = seen.add
		got := mustCopy(t, cfg)
		verify(t, to, chosen(repo()))
		ignore := []cmp.Option{cmpopts.IgnoreFields(manifest.File{}, "ETag"), cmpopts.IgnoreFields(manifest.Manifest{}, "Written"), cmpopts.SortSlices(func(a, b manifest.File) bool { return a.Path < b.Path })}
		if diff := cmp.Diff(want, got, ignore...); diff != "" {
			t.Errorf("the manifests differ:\n%s", diff)
		}
		if last := seen.last(t); last.Phase != progress.Done || last.Bytes != got.Size() {
			t.Errorf("last report %+v", last)
		}
		again := mustCopy(t, copyConfig(t, &unreadable{Store: from}, to))
		if !again.Written.Equal(got.Written) {
			t.Error("a second copy writes again")
		}
	})
}

// unreadable is a store that serves the manifest only.
type unreadable struct{ objectstore.Store }

func (u *unreadable) Stat(ctx context.Context, name string) (objectstore.Object, error) {
	return objectstore.Object{}, fault.Errorf(fault.Internal, "file %q must not be looked at", name)
}

// A copy detects damaged files of a folder by digest, also at the same size, and
// transfers them again. It keeps intact files from another origin.
func TestCopyRecognisesByDigest(t *testing.T) {
	t.Parallel()
	from, _ := fetched(t)
	to := dirStore(t, t.TempDir())
	if err := to.Put(t.Context(), large, repo()[large]); err != nil {
		t.Fatal(err)
	}
	other := content(2*part, 77)
	if err := to.Put(t.Context(), "model-00002-of-00002.safetensors", other); err != nil {
		t.Fatal(err)
	}
	brought := map[string]bool{}
	watched := &spy{Store: to, wrote: func(name string, _ int) { brought[name] = true }}
	cfg := copyConfig(t, from, watched)
	cfg.Concurrency = 1 // makes the calls of the spy sequential
	mustCopy(t, cfg)
	verify(t, to, chosen(repo()))
	if diff := cmp.Diff(map[string]bool{"model-00002-of-00002.safetensors": true, "tokenizer.json": true}, brought); diff != "" {
		t.Errorf("large files transferred (-want +got):\n%s", diff)
	}
}

// A copy rejects a source with bytes that do not match its manifest.
func TestCopyRefusesCorruptSource(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, to objectstore.Store) {
		for _, name := range []string{large, "config.json"} {
			from, _ := fetched(t)
			body := readAll(t, from, name)
			body[len(body)/2] ^= 1
			if err := from.Put(t.Context(), name, body); err != nil {
				t.Fatal(err)
			}
			if err := to.Remove(t.Context(), name); err != nil { // from the previous round
				t.Fatal(err)
			}
			_, err := fetch.Copy(t.Context(), copyConfig(t, from, to))
			if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), name) {
				t.Errorf("Copy = %v, want Corrupt for %q", err, name)
			}
			noManifest(t, to)
		}
	})
}

func TestCopyRefusesShortSource(t *testing.T) {
	t.Parallel()
	from, _ := fetched(t)
	if err := from.Put(t.Context(), large, repo()[large][:part+1]); err != nil {
		t.Fatal(err)
	}
	to := dirStore(t, t.TempDir())
	if _, err := fetch.Copy(t.Context(), copyConfig(t, from, to)); err == nil {
		t.Error("a file that is too short was copied")
	}
	noManifest(t, to)
	if err := from.Remove(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	if _, err := fetch.Copy(t.Context(), copyConfig(t, from, to)); !fault.Is(err, fault.NotFound) {
		t.Errorf("a file that is gone: %v, want NotFound", err)
	}
}

func TestCopyResumes(t *testing.T) {
	t.Parallel()
	from, _ := fetched(t)
	stores(t, func(t *testing.T, to objectstore.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		kept := 0
		cfg := copyConfig(t, from, &spy{Store: to, saved: func(name string, state []byte) {
			var saved struct{ Parts int }
			if name == large && kept == 0 && json.Unmarshal(state, &saved) == nil && saved.Parts > 0 {
				kept = saved.Parts
				cancel()
			}
		}})
		cfg.Include = []string{large}
		cfg.Concurrency = 1
		_, err := fetch.Copy(ctx, cfg)
		if !fault.Is(err, fault.Interrupted) || kept == 0 {
			t.Fatalf("Copy = %v, %d parts kept", err, kept)
		}
		wrote := 0
		cfg.To = &spy{Store: to, wrote: func(string, int) { wrote++ }}
		mustCopy(t, cfg)
		verify(t, to, map[string][]byte{large: repo()[large]})
		if wrote > 4-kept {
			t.Errorf("%d parts of 4 written after resuming at %d", wrote, kept)
		}
	})
}

// A folder without a manifest is copied as it is.
func TestCopiesPlainFolder(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, to objectstore.Store) {
		dir := t.TempDir()
		for name, body := range repo() {
			hubtest.Write(t, dir+"/"+name, body)
		}
		from := dirStore(t, dir)
		m := mustCopy(t, copyConfig(t, from, to))
		verify(t, to, chosen(repo()))
		if m.Kind != manifest.Source || m.Origin.Source != "file://"+dir || len(m.Origin.Digest) != 64 {
			t.Errorf("manifest %+v", m)
		}
		if again := mustCopy(t, copyConfig(t, from, to)); !again.Written.Equal(m.Written) {
			t.Error("a second copy writes again")
		}
		newer := repo()
		newer["config.json"] = []byte(`{"model_type":"qwen3"}`)
		hubtest.Write(t, dir+"/config.json", newer["config.json"])
		mustCopy(t, copyConfig(t, from, to))
		verify(t, to, chosen(newer))
	})
}

func TestCopyRefuses(t *testing.T) {
	empty := dirStore(t, t.TempDir())
	from, _ := fetched(t)
	to := dirStore(t, t.TempDir())
	bad := dirStore(t, t.TempDir())
	if err := bad.Put(t.Context(), names.Manifest, []byte("{")); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		cfg  fetch.CopyConfig
		want fault.Kind
	}{
		"NoSource":    {fetch.CopyConfig{To: to}, fault.Invalid},
		"NoTarget":    {fetch.CopyConfig{From: from}, fault.Invalid},
		"Empty":       {fetch.CopyConfig{From: empty, To: to}, fault.NotFound},
		"Missing":     {fetch.CopyConfig{From: dirStore(t, t.TempDir()+"/missing"), To: to}, fault.NotFound},
		"BadManifest": {fetch.CopyConfig{From: bad, To: to}, fault.Corrupt},
		"Itself":      {fetch.CopyConfig{From: to, To: to}, fault.Invalid},
		"NoneChosen":  {fetch.CopyConfig{From: from, To: to, Options: fetch.Options{Include: []string{"x"}}}, fault.NotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := fetch.Copy(t.Context(), c.cfg); fault.KindOf(err) != c.want {
				t.Errorf("Copy = %v (%s), want %s", err, fault.KindOf(err), c.want)
			}
		})
	}
}
