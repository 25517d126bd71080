package modelartifact_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
)

const (
	modelFile     = "dllama_model_tiny_q40.m"
	tokenizerFile = "dllama_tokenizer_tiny.t"
)

// whole writes all files of a converted model.
func whole(t *testing.T, store objectstore.Store) {
	t.Helper()
	m := manifest.Manifest{Kind: manifest.Converted, Name: "tiny", Weights: "q40"}
	for _, name := range []string{modelFile, tokenizerFile} {
		sum := sha256.Sum256([]byte(name))
		m.Files = append(m.Files, manifest.File{Path: name, Size: int64(len(name)), SHA256: hex.EncodeToString(sum[:])})
		if err := store.Put(t.Context(), name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := manifest.Save(t.Context(), store, m); err != nil {
		t.Fatal(err)
	}
}

func world(t *testing.T) (*modelartifact.Client, objectstore.Store) {
	t.Helper()
	store, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	open := func(context.Context, string) (objectstore.Store, error) { return store, nil }
	reports := func(_ context.Context, key string) (progress.Report, error) {
		if key != "running" {
			return progress.Report{}, fault.Errorf(fault.NotFound, "no report")
		}
		return progress.Report{Stage: "convert", Phase: progress.Running, Bytes: 1, Total: 2}, nil
	}
	return modelartifact.New(open, reports, nil), store
}

func TestObserve(t *testing.T) {
	cases := map[string]struct {
		spoil func(t *testing.T, store objectstore.Store)
		key   string
		want  func(o modelartifact.Status) bool
		says  string // message of an artifact that is not ready; empty means ready
	}{
		"Whole": {func(t *testing.T, s objectstore.Store) { t.Helper(); whole(t, s) }, "", func(o modelartifact.Status) bool {
			return o.Whole && o.ModelFile == modelFile && o.TokenizerFile == tokenizerFile && o.Weights == "q40" && o.SizeBytes == int64(len(modelFile+tokenizerFile)) && len(o.ManifestSHA256) == 64
		}, ""},
		"Nothing":  {func(*testing.T, objectstore.Store) {}, "", func(o modelartifact.Status) bool { return !o.Whole && o.Progress == nil }, "no manifest yet"},
		"Underway": {func(*testing.T, objectstore.Store) {}, "running", func(o modelartifact.Status) bool { return o.Progress != nil && o.Progress.Bytes == 1 }, "no manifest yet"},
		"FileGone": {func(t *testing.T, s objectstore.Store) {
			t.Helper()
			whole(t, s)
			if err := s.Remove(t.Context(), tokenizerFile); err != nil {
				t.Fatal(err)
			}
		}, "", func(o modelartifact.Status) bool { return !o.Whole }, tokenizerFile},
		"FileShort": {func(t *testing.T, s objectstore.Store) {
			t.Helper()
			whole(t, s)
			if err := s.Put(t.Context(), modelFile, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}, "", func(o modelartifact.Status) bool { return !o.Whole }, "1 bytes"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client, store := world(t)
			c.spoil(t, store)
			o, err := client.Observe(t.Context(), modelartifact.Spec{URL: "s3://models/x", ProgressKey: c.key})
			if err != nil {
				t.Fatal(err)
			}
			if o.Ready != (c.says == "") || !strings.Contains(o.Message, c.says) || !c.want(o.Status) {
				t.Errorf("Observe: got %+v", o)
			}
		})
	}
}

// TestFilesOfAnotherSourceDoNotCount has another hub claim to serve the same commit of the
// same repository, and fill the folder first.
func TestFilesOfAnotherSourceDoNotCount(t *testing.T) {
	const source = "hf://meta-llama/X"
	commit := strings.Repeat("a", 40)
	for name, c := range map[string]struct {
		origin manifest.Origin
		whole  bool
	}{
		"Same":         {manifest.Origin{Source: source, Commit: commit}, true},
		"OtherHub":     {manifest.Origin{Source: "https://evil.example/meta-llama/X", Commit: commit}, false},
		"OtherRepo":    {manifest.Origin{Source: "hf://evil/X", Commit: commit}, false},
		"OtherCommit":  {manifest.Origin{Source: source, Commit: strings.Repeat("b", 40)}, false},
		"NothingNamed": {manifest.Origin{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			client, store := world(t)
			whole(t, store)
			m, _, err := manifest.Load(t.Context(), store)
			if err != nil {
				t.Fatal(err)
			}
			m.Origin = c.origin
			if err := manifest.Save(t.Context(), store, m); err != nil {
				t.Fatal(err)
			}
			o, err := client.Observe(t.Context(), modelartifact.Spec{URL: "s3://models/x", Source: source, Commit: commit})
			if err != nil || o.Ready != c.whole || o.Status.Whole != c.whole || !c.whole && !strings.Contains(o.Message, "not of commit") {
				t.Errorf("got %+v, %v", o, err)
			}
		})
	}
}

func TestFileOfSource(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"None":      {[]string{"config.json", "model.safetensors"}, ""},
		"One":       {[]string{"README.md", "q4/m.gguf"}, "q4/m.gguf"},
		"Several":   {[]string{"m-q4.gguf", "m-q8.gguf"}, ""},
		"Shards":    {[]string{"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"}, "m-00001-of-00002.gguf"},
		"Projector": {[]string{"m.gguf", "mmproj-m.gguf"}, "m.gguf"},
	} {
		t.Run(name, func(t *testing.T) {
			client, store := world(t)
			m := manifest.Manifest{Kind: manifest.Source}
			for _, file := range c.files {
				sum := sha256.Sum256([]byte(file))
				m.Files = append(m.Files, manifest.File{Path: file, Size: int64(len(file)), SHA256: hex.EncodeToString(sum[:])})
				if err := store.Put(t.Context(), file, []byte(file)); err != nil {
					t.Fatal(err)
				}
			}
			if err := manifest.Save(t.Context(), store, m); err != nil {
				t.Fatal(err)
			}
			o, err := client.Observe(t.Context(), modelartifact.Spec{URL: "s3://models/x"})
			if err != nil || !o.Ready || o.Status.ModelFile != c.want || o.Status.TokenizerFile != "" {
				t.Errorf("Observe: %+v, %v, want file %q", o, err, c.want)
			}
		})
	}
}

func TestDeleteLeavesNoModel(t *testing.T) {
	client, store := world(t)
	whole(t, store)
	spec := modelartifact.Spec{URL: "s3://models/x"}
	for range 2 {
		if err := client.Delete(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
	}
	if objects, err := store.List(t.Context(), ""); err != nil || len(objects) > 0 {
		t.Errorf("objects after Delete: got %v, %v", objects, err)
	}
}

func TestNoNamespaceDeletesSharedFiles(t *testing.T) {
	client, store := world(t)
	whole(t, store)
	spec := modelartifact.Spec{URL: "s3://models/x", Owner: external.Owner{Namespace: "hostile", Common: true}}
	if o, err := client.Observe(t.Context(), spec); err != nil || !o.Ready {
		t.Errorf("it may use them: %+v, %v", o, err)
	}
	spec.Owner.Deleting = true
	if err := client.Delete(t.Context(), spec); !errors.Is(err, external.ErrNotOwner) {
		t.Errorf("Delete: %v", err)
	}
	if o, err := client.Observe(t.Context(), spec); err != nil || o.Exists {
		t.Errorf("at the deletion: %+v, %v", o, err)
	}
	if objects, err := store.List(t.Context(), ""); err != nil || len(objects) == 0 {
		t.Errorf("objects: got %v, %v", objects, err)
	}
}
