// Package verify checks the stored files of a model against their manifest.
package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
)

// A Config is what to verify.
type Config struct {
	Store    objectstore.Store
	Workers  int           // files read at once; 0 is 4
	Progress progress.Func // nil: none
}

// Run reads every file that the manifest lists and compares size and SHA-256.
// It returns the manifest with the error if it could read it. Errors: NotFound (no
// manifest, so no complete model), Corrupt with every file that differs or is
// missing, and those of the store. Memory does not grow with the files.
func Run(ctx context.Context, cfg Config) (manifest.Manifest, error) {
	m, _, err := manifest.Load(ctx, cfg.Store)
	if err != nil {
		return manifest.Manifest{}, fmt.Errorf("cannot verify %s: %w", cfg.Store.URL(), err)
	}
	if cfg.Workers <= 0 {
		cfg.Workers = 4
	}
	if cfg.Progress == nil {
		cfg.Progress = func(progress.Report) {}
	}
	v := &verifier{Config: cfg, total: m.Size()}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(cfg.Workers)
	wrong := make([]error, len(m.Files))
	for i, f := range m.Files {
		g.Go(func() error {
			err := v.check(gctx, f)
			if fault.Is(err, fault.Corrupt) || fault.Is(err, fault.NotFound) {
				wrong[i] = err
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return m, fmt.Errorf("cannot verify %s: %w", cfg.Store.URL(), err)
	}
	if err := errors.Join(wrong...); err != nil {
		return m, fault.As(fault.Corrupt, fmt.Errorf("%s does not match its manifest: %w", cfg.Store.URL(), err))
	}
	return m, nil
}

// A verifier sums the bytes that its workers read.
type verifier struct {
	Config

	total int64

	mu   sync.Mutex // guards done, and calls of Progress
	done int64
}

func (v *verifier) check(ctx context.Context, f manifest.File) error {
	r, err := v.Store.Open(ctx, f.Path, 0, -1)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	hash := sha256.New()
	size, err := io.Copy(hash, io.TeeReader(r, meter{v, f.Path}))
	if err != nil {
		return fmt.Errorf("cannot read file %q: %w", f.Path, err)
	}
	if size != f.Size {
		return fault.Errorf(fault.Corrupt, "file %q has %d bytes, and %d in the manifest", f.Path, size, f.Size)
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); sum != f.SHA256 {
		return fault.Errorf(fault.Corrupt, "file %q has SHA-256 %s, and %s in the manifest", f.Path, sum, f.SHA256)
	}
	return nil
}

// A meter counts the bytes of one file.
type meter struct {
	v    *verifier
	item string
}

func (m meter) Write(p []byte) (int, error) {
	m.v.mu.Lock()
	defer m.v.mu.Unlock()
	m.v.done += int64(len(p))
	m.v.Progress(progress.Report{Stage: "verify", Phase: progress.Running, Item: m.item, Bytes: m.v.done, Total: m.v.total})
	return len(p), nil
}
