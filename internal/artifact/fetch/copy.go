package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

// A CopyConfig is what to copy from one store to another.
type CopyConfig struct {
	From, To objectstore.Store
	// As is the manifest to write of a source without one, without files. Nil: that of
	// source files whose origin is From.
	As *manifest.Manifest
	Options
}

// Copy copies a model and returns the manifest that it wrote, or the existing one
// if the target already has the same files. It checks each file against the
// source's manifest; the target's manifest is the same except for the ETags. From
// a source without a manifest, such as a folder made by hand, it copies the files
// that the patterns choose and computes their digests on the way. Errors are those
// of Run.
func Copy(ctx context.Context, cfg CopyConfig) (manifest.Manifest, error) {
	if cfg.From == nil {
		return manifest.Manifest{}, fault.Errorf(fault.Invalid, "cannot copy: no source is given")
	}
	if cfg.To != nil && cfg.From.URL() == cfg.To.URL() {
		return manifest.Manifest{}, fault.Errorf(fault.Invalid, "cannot copy %s: it is source and target at once", cfg.From.URL())
	}
	m, err := runCopy(ctx, cfg)
	if err != nil {
		return manifest.Manifest{}, fmt.Errorf("cannot copy %s: %w", cfg.From.URL(), err)
	}
	return m, nil
}

func runCopy(ctx context.Context, cfg CopyConfig) (_ manifest.Manifest, err error) {
	j, err := newJob(cfg.To, cfg.Options)
	if err != nil {
		return manifest.Manifest{}, err
	}
	defer func() { j.meter.end(err) }()
	source, _, err := manifest.Load(ctx, cfg.From)
	if fault.Is(err, fault.NotFound) {
		return copyPlain(ctx, cfg, j)
	}
	if err != nil {
		return manifest.Manifest{}, err
	}
	j.base, j.origin = source, source.Origin
	files := source.Files
	if len(cfg.Include)+len(cfg.Exclude) > 0 {
		j.origin.Include, j.origin.Exclude = cfg.Include, cfg.Exclude
		files = nil
		for _, f := range source.Files {
			if j.choose.match(f.Path) {
				files = append(files, f)
			}
		}
	}
	if len(files) == 0 {
		return manifest.Manifest{}, fault.Errorf(fault.NotFound, "none of its %d files is chosen by the patterns", len(source.Files))
	}
	return j.run(ctx, func(context.Context) ([]item, error) {
		var items []item
		for _, f := range files {
			items = append(items, item{
				path: f.Path, size: f.Size, sha256: f.SHA256, token: "sha256:" + f.SHA256,
				open: opener(cfg.From, f.Path),
			})
		}
		return items, nil
	})
}

// copyPlain copies a source without a manifest. Its listing identifies its content:
// a file with another size, ETag or time is another file.
func copyPlain(ctx context.Context, cfg CopyConfig, j *job) (manifest.Manifest, error) {
	list, err := (&patientStore{Store: cfg.From, retrier: j.retrier}).List(ctx, "")
	if err != nil {
		return manifest.Manifest{}, err
	}
	h := sha256.New()
	var items []item
	for _, o := range list {
		if !j.choose.match(o.Name) {
			continue
		}
		id := fmt.Sprintf("%q %d %q %d", o.Name, o.Size, o.ETag, o.Modified.UnixNano())
		_, _ = fmt.Fprintln(h, id)
		sum := sha256.Sum256([]byte(id))
		items = append(items, item{path: o.Name, size: o.Size, token: "listed:" + hex.EncodeToString(sum[:]), open: opener(cfg.From, o.Name)})
	}
	if len(items) == 0 {
		return manifest.Manifest{}, fault.Errorf(fault.NotFound, "it has neither a manifest nor files that the patterns choose")
	}
	j.origin = manifest.Origin{
		Source: cfg.From.URL(), Digest: hex.EncodeToString(h.Sum(nil)),
		Include: cfg.Include, Exclude: cfg.Exclude,
	}
	if cfg.As != nil {
		j.base, j.origin = *cfg.As, cfg.As.Origin
	}
	return j.run(ctx, func(context.Context) ([]item, error) { return items, nil })
}

func opener(from objectstore.Store, name string) func(context.Context, int64, int64) (io.ReadCloser, error) {
	return func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
		return from.Open(ctx, name, offset, length)
	}
}
