package verify_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	dirstore "github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/artifact/verify"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
)

func TestRun(t *testing.T) {
	cases := map[string]struct {
		spoil func(t *testing.T, dir string)
		kind  fault.Kind
		says  []string
	}{
		"Whole":     {func(*testing.T, string) {}, "", nil},
		"OtherByte": {func(t *testing.T, dir string) { t.Helper(); write(t, dir, "a.bin", "hallo") }, fault.Corrupt, []string{`"a.bin"`, "SHA-256"}},
		"Shorter":   {func(t *testing.T, dir string) { t.Helper(); write(t, dir, "a.bin", "hell") }, fault.Corrupt, []string{`"a.bin"`, "4 bytes", "5 in the manifest"}},
		"Missing": {func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, "sub", "b.bin")); err != nil {
				t.Fatal(err)
			}
		}, fault.Corrupt, []string{"sub/b.bin"}},
		"TwoWrong": {func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir, "a.bin", "hallo")
			write(t, dir, "sub/b.bin", "world")
		}, fault.Corrupt, []string{`"a.bin"`, `"sub/b.bin"`}},
		"NoManifest": {func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, "koldun-manifest.json")); err != nil {
				t.Fatal(err)
			}
		}, fault.NotFound, []string{"cannot verify file://"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			store, err := dirstore.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			m := manifest.Manifest{Kind: manifest.Source}
			for path, text := range map[string]string{"a.bin": "hello", "sub/b.bin": "WORLD"} {
				write(t, dir, path, text)
				sum := sha256.Sum256([]byte(text))
				m.Files = append(m.Files, manifest.File{Path: path, Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])})
			}
			if err := manifest.Save(t.Context(), store, m); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, dir)
			var last progress.Report
			_, err = verify.Run(t.Context(), verify.Config{Store: store, Progress: func(p progress.Report) { last = p }})
			if fault.KindOf(err) != c.kind {
				t.Errorf("Run: %v, of kind %q, want %q", err, fault.KindOf(err), c.kind)
			}
			for _, want := range c.says {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Run: %v, want it to say %q", err, want)
				}
			}
			if c.kind == "" && (last.Bytes != 10 || last.Total != 10) {
				t.Errorf("the last report is %+v, want 10 of 10 bytes", last)
			}
		})
	}
}

func write(t *testing.T, dir, path, text string) {
	t.Helper()
	name := filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
