package manifest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

func sample() manifest.Manifest {
	return manifest.Manifest{
		Kind:   manifest.Source,
		Origin: manifest.Origin{Source: "hf://org/repo", Commit: strings.Repeat("a", 40), Include: []string{"*.json"}},
		Files: []manifest.File{
			{Path: "b/c.json", Size: 2, SHA256: strings.Repeat("1", 64), ETag: `"x-2"`},
			{Path: "a.json", Size: 1, SHA256: strings.Repeat("2", 64)},
		},
		Written: time.Unix(1_700_000_000, 0).UTC(),
	}
}

type memory map[string][]byte

func (m memory) Put(_ context.Context, name string, body []byte) error {
	m[name] = body
	return nil
}

func (m memory) Open(_ context.Context, name string, _, _ int64) (io.ReadCloser, error) {
	body, ok := m[name]
	if !ok {
		return nil, fault.As(fault.NotFound, errors.New("no such object"))
	}
	return io.NopCloser(bytes.NewReader(body)), nil
}

func TestSaveAndLoad(t *testing.T) {
	store := memory{}
	if _, _, err := manifest.Load(t.Context(), store); !fault.Is(err, fault.NotFound) {
		t.Errorf("Load of nothing = %v", err)
	}
	in := sample()
	if err := manifest.Save(t.Context(), store, in); err != nil {
		t.Fatal(err)
	}
	out, digest, err := manifest.Load(t.Context(), store)
	if err != nil || len(digest) != 64 {
		t.Fatal(digest, err)
	}
	want := sample()
	want.Version = manifest.Version
	want.Files[0], want.Files[1] = want.Files[1], want.Files[0]
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	if in.Files[0].Path != "b/c.json" {
		t.Error("Encode sorted the caller's files")
	}
	if out.Size() != 3 {
		t.Errorf("Size = %d", out.Size())
	}
	if f, ok := out.File("a.json"); !ok || f.Size != 1 {
		t.Errorf("File = %+v, %v", f, ok)
	}
	if !out.Origin.Equal(sample().Origin) || out.Origin.Equal(manifest.Origin{}) {
		t.Error("Equal is wrong")
	}
	store[names.Manifest] = []byte("{")
	if _, _, err := manifest.Load(t.Context(), store); !fault.Is(err, fault.Corrupt) {
		t.Errorf("Load of half a manifest = %v", err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	change := map[string]func(*manifest.Manifest){
		"Escape":   func(m *manifest.Manifest) { m.Files[0].Path = "../x" },
		"Absolute": func(m *manifest.Manifest) { m.Files[0].Path = "/x" },
		"NoPath":   func(m *manifest.Manifest) { m.Files[0].Path = "" },
		"Twice":    func(m *manifest.Manifest) { m.Files[0].Path = m.Files[1].Path },
		"Negative": func(m *manifest.Manifest) { m.Files[0].Size = -1 },
		"Short":    func(m *manifest.Manifest) { m.Files[0].SHA256 = "abc" },
		"NoHex":    func(m *manifest.Manifest) { m.Files[0].SHA256 = strings.Repeat("Z", 64) },
	}
	for name, f := range change {
		t.Run(name, func(t *testing.T) {
			m := sample()
			f(&m)
			body, err := manifest.Encode(m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := manifest.Decode(body); !fault.Is(err, fault.Corrupt) {
				t.Errorf("Decode = %v, want Corrupt", err)
			}
		})
	}
	if _, err := manifest.Decode([]byte(`{"version":"v0"}`)); !fault.Is(err, fault.Corrupt) {
		t.Errorf("another version: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	body, err := manifest.Encode(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add([]byte(`{"version":"` + manifest.Version + `","files":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := manifest.Decode(body)
		if err != nil {
			return
		}
		again, err := manifest.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := manifest.Decode(again); err != nil {
			t.Errorf("cannot read what was written: %v", err)
		}
	})
}
