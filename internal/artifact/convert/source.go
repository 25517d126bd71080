package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// Bounds of the files that are read as a whole, in bytes. The largest
// published tokenizer.json has about 35 MB.
const (
	maxConfig    = 1 << 20
	maxSmall     = 1 << 24
	maxTokenizer = 1 << 26
)

// A source is the folder that a conversion reads.
type source struct {
	store  objectstore.Store
	files  map[string]objectstore.Object // of the folder itself, not below
	origin manifest.Origin
	digest string // identifies the input, hex
}

// openSource lists the folder. With a source manifest the files must match it, and
// its digest identifies the input; without one, names, sizes, ETags and times of
// the files do.
func openSource(ctx context.Context, store objectstore.Store) (*source, error) {
	all, err := store.List(ctx, "")
	if err != nil {
		return nil, err
	}
	s := &source{store: store, files: map[string]objectstore.Object{}}
	sum := sha256.New()
	for _, o := range all {
		if strings.Contains(o.Name, "/") || strings.HasPrefix(o.Name, ".") {
			continue
		}
		s.files[o.Name] = o
		if o.Name != names.Manifest && !names.Converted(o.Name) {
			_, _ = fmt.Fprintf(sum, "%q %d %q %d\n", o.Name, o.Size, o.ETag, o.Modified.UnixNano())
		}
	}
	s.digest = hex.EncodeToString(sum.Sum(nil))
	s.origin = manifest.Origin{Source: store.URL(), Digest: s.digest}
	if err := s.readManifest(ctx); err != nil {
		return nil, err
	}
	if len(s.files) == 0 {
		return nil, fault.Errorf(fault.NotFound, "the folder holds no files")
	}
	return s, nil
}

func (s *source) readManifest(ctx context.Context) error {
	raw, err := s.optional(ctx, names.Manifest, maxSmall)
	if err != nil || raw == nil {
		return err
	}
	m, err := manifest.Decode(raw)
	if err != nil {
		return err
	}
	if m.Kind != manifest.Source {
		return nil
	}
	for _, f := range m.Files {
		if strings.Contains(f.Path, "/") {
			continue
		}
		o, ok := s.files[f.Path]
		if !ok {
			return fault.Errorf(fault.Corrupt, "file %q is missing, which the source's manifest lists", f.Path)
		}
		if o.Size != f.Size {
			return fault.Errorf(fault.Corrupt, "file %q has %d bytes, the source's manifest lists %d", f.Path, o.Size, f.Size)
		}
		if f.ETag != "" && o.ETag != "" && f.ETag != o.ETag {
			return fault.Errorf(fault.Corrupt, "file %q has ETag %s, the source's manifest lists %s: it has changed", f.Path, o.ETag, f.ETag)
		}
	}
	sum := sha256.Sum256(raw)
	s.digest = hex.EncodeToString(sum[:])
	s.origin = m.Origin
	s.origin.Digest = s.digest
	return nil
}

// optional reads a whole file; nil if there is none.
func (s *source) optional(ctx context.Context, name string, limit int64) ([]byte, error) {
	o, ok := s.files[name]
	if !ok {
		return nil, nil
	}
	if o.Size > limit {
		return nil, fault.Errorf(fault.Unsupported, "file %q has %d bytes, want at most %d", name, o.Size, limit)
	}
	return s.read(ctx, name, 0, o.Size)
}

// required reads a whole file; NotFound if there is none.
func (s *source) required(ctx context.Context, name string, limit int64) ([]byte, error) {
	if _, ok := s.files[name]; !ok {
		return nil, fault.Errorf(fault.NotFound, "there is no file %q", name)
	}
	return s.optional(ctx, name, limit)
}

// read reads a range of a file into memory.
func (s *source) read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	buf := make([]byte, length)
	err := retry(ctx, func() error {
		r, err := s.store.Open(ctx, name, offset, length)
		if err != nil {
			return err
		}
		defer func() { _ = r.Close() }()
		_, err = io.ReadFull(r, buf)
		return err
	})
	return buf, err
}
