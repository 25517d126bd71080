package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// A target is the folder that a conversion writes.
type target struct {
	store  objectstore.Store
	cfg    Config
	want   []string // names of the files that a conversion has
	may    []string // names of the files that it has if its input allows them
	there  bool     // a manifest exists
	old    manifest.Manifest
	usable bool // old describes a conversion of the same input
	sizes  map[string]int64
}

func openTarget(ctx context.Context, cfg Config, src *source) (*target, error) {
	t := &target{store: cfg.To, cfg: cfg, sizes: map[string]int64{}}
	if cfg.Only != Tokenizer {
		t.want = append(t.want, names.ModelFile(cfg.Name, string(cfg.Weights)))
	}
	if cfg.Only != Model {
		file := names.TokenizerFile(cfg.Name)
		t.want = append(t.want, file)
		t.may = append(t.may, names.TokenizerRules(file))
	}
	o, err := t.store.Stat(ctx, names.Manifest)
	if fault.Is(err, fault.NotFound) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	t.there = true
	if o.Size > maxSmall {
		return t, nil
	}
	raw, err := readAll(ctx, t.store, names.Manifest, o.Size)
	if err != nil {
		return nil, err
	}
	m, err := manifest.Decode(raw)
	if err != nil {
		cfg.Log.Warn("target holds a broken manifest and will get a new one", "target", cfg.To.URL(), "error", err)
		return t, nil
	}
	if m.Kind == manifest.Source {
		return nil, fault.Errorf(fault.Invalid, "the target %s is the source of a model: its manifest would be replaced; choose another folder", cfg.To.URL())
	}
	t.old = m
	t.usable = m.Kind == manifest.Converted && m.Origin.Digest == src.digest && m.Name == cfg.Name && m.Converter == Version &&
		(m.Weights == string(cfg.Weights) || cfg.Weights == "" || m.Weights == "")
	t.warnReplaced()
	return t, t.stat(ctx)
}

// warnReplaced logs why the manifest drops files: a folder holds one model of one
// type.
func (t *target) warnReplaced() {
	if t.usable || t.old.Kind != manifest.Converted || t.old.Weights == "" {
		return
	}
	t.cfg.Log.Warn("the target holds another conversion, which its manifest will list no longer; a folder is one model of one type: choose another folder to keep both",
		"target", t.cfg.To.URL(), "name", t.old.Name, "weights", t.old.Weights)
}

// stat reads the sizes of the listed files.
func (t *target) stat(ctx context.Context) error {
	if !t.usable {
		return nil
	}
	for _, f := range t.old.Files {
		o, err := t.store.Stat(ctx, f.Path)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		t.sizes[f.Path] = o.Size
	}
	return nil
}

// whole reports whether a file matches its entry.
func (t *target) whole(f manifest.File) bool {
	size, ok := t.sizes[f.Path]
	return ok && size == f.Size
}

// present returns the existing manifest, if it describes the output of this
// conversion.
func (t *target) present() (manifest.Manifest, bool) {
	if !t.usable {
		return manifest.Manifest{}, false
	}
	for _, name := range t.want {
		f, listed := t.old.File(name)
		if !listed || !t.whole(f) {
			return manifest.Manifest{}, false
		}
	}
	return t.old, true
}

// kept returns the listed files of the same conversion that this run does not
// write: the model when it converts only the tokenizer, and vice versa.
func (t *target) kept() []manifest.File {
	if !t.usable {
		return nil
	}
	var keep []manifest.File
	for _, f := range t.old.Files {
		if t.whole(f) && !slices.Contains(t.want, f.Path) && !slices.Contains(t.may, f.Path) {
			keep = append(keep, f)
		}
	}
	return keep
}

// unseal removes the manifest before a file that it may list is replaced.
func (t *target) unseal(ctx context.Context) error {
	if !t.there {
		return nil
	}
	t.there = false
	return t.store.Remove(ctx, names.Manifest)
}

// put writes a small file.
func (t *target) put(ctx context.Context, name string, body []byte) (manifest.File, error) {
	if err := t.unseal(ctx); err != nil {
		return manifest.File{}, err
	}
	if err := t.store.Put(ctx, name, body); err != nil {
		return manifest.File{}, err
	}
	o, err := t.store.Stat(ctx, name)
	if err != nil {
		return manifest.File{}, err
	}
	if o.Size != int64(len(body)) {
		return manifest.File{}, fault.Errorf(fault.Conflict, "file %q was written with %d bytes and has %d: another process writes it", name, len(body), o.Size)
	}
	sum := sha256.Sum256(body)
	return manifest.File{Path: name, Size: o.Size, SHA256: hex.EncodeToString(sum[:]), ETag: o.ETag}, nil
}

// seal writes the manifest.
func (t *target) seal(ctx context.Context, m manifest.Manifest) (manifest.Manifest, error) {
	raw, err := manifest.Encode(m)
	if err != nil {
		return manifest.Manifest{}, err
	}
	if err := t.store.Put(ctx, names.Manifest, raw); err != nil {
		return manifest.Manifest{}, err
	}
	return manifest.Decode(raw)
}

func readAll(ctx context.Context, store objectstore.Store, name string, size int64) ([]byte, error) {
	r, err := store.Open(ctx, name, 0, size)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	raw := make([]byte, size)
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", name, err)
	}
	return raw, nil
}
