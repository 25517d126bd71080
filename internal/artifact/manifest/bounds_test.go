package manifest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/fault"
)

// A folder holds one object.
type folder []byte

func (f *folder) Put(_ context.Context, _ string, body []byte) error {
	*f = body
	return nil
}

func (f *folder) Open(context.Context, string, int64, int64) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(*f)), nil
}

// TestBounds writes no manifest that could not be read again.
func TestBounds(t *testing.T) {
	for n, kind := range map[int]fault.Kind{10_000: "", 60_000: fault.Unsupported} {
		m := manifest.Manifest{Kind: manifest.Source}
		for i := range n {
			m.Files = append(m.Files, manifest.File{Path: fmt.Sprintf("model-%05d-of-%05d.safetensors", i, n), Size: 1 << 30, SHA256: strings.Repeat("a", 64), ETag: `"0123456789abcdef0123456789abcdef-99"`})
		}
		var f folder
		err := manifest.Save(t.Context(), &f, m)
		if fault.KindOf(err) != kind || kind != "" && f != nil {
			t.Fatalf("Save of %d files: %v, want kind %q", n, err, kind)
		}
		if err != nil {
			continue
		}
		if got, _, err := manifest.Load(t.Context(), &f); err != nil || len(got.Files) != n {
			t.Errorf("Load of %d files: %d, %v", n, len(got.Files), err)
		}
	}
}
