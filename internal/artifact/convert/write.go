package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"time"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// writeModel writes the model file and returns its entry for the manifest.
func writeModel(ctx context.Context, cfg Config, p *plan, dst *target, input string, r *reporter) (manifest.File, error) {
	name := names.ModelFile(cfg.Name, string(cfg.Weights))
	token := Version + ":" + string(cfg.Weights) + ":" + input
	if f, ok, err := finished(ctx, cfg.To, name, token, p.size); err != nil || ok {
		if ok {
			r.found(f.Size)
			dropRest(ctx, cfg, name)
		}
		return f, err
	}
	size, err := partSize(cfg.PartSize, p.size)
	if err != nil {
		return manifest.File{}, err
	}
	options := objectstore.UploadOptions{Size: p.size, PartSize: size, Token: token}
	up, err := cfg.To.Upload(ctx, name, options)
	if err != nil {
		return manifest.File{}, err
	}
	defer func() { _ = up.Close() }()
	sum, err := newPipeline(cfg, p, up, options, r).run(ctx)
	if err == nil {
		err = dst.unseal(ctx)
	}
	if err != nil {
		dropIfFinal(ctx, up, err)
		return manifest.File{}, err
	}
	o, err := up.Complete(ctx)
	if err != nil {
		return manifest.File{}, err
	}
	return manifest.File{Path: name, Size: o.Size, SHA256: hex.EncodeToString(sum), ETag: o.ETag}, nil
}

// finished finds a file that an earlier process completed without getting to
// the manifest, and computes its digest.
func finished(ctx context.Context, store objectstore.Store, name, token string, size int64) (manifest.File, bool, error) {
	o, err := store.Stat(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return manifest.File{}, false, nil
	}
	if err != nil {
		return manifest.File{}, false, err
	}
	if o.Token != token || o.Size != size {
		return manifest.File{}, false, nil
	}
	body, err := store.Open(ctx, name, 0, size)
	if err != nil {
		return manifest.File{}, false, err
	}
	defer func() { _ = body.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return manifest.File{}, false, err
	}
	return manifest.File{Path: name, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil)), ETag: o.ETag}, true, nil
}

// dropRest removes what a process that was killed while its upload completed
// may have left beside the complete file.
func dropRest(ctx context.Context, cfg Config, name string) {
	others := func(n string) bool { return n != name }
	if err := cfg.To.AbortUploads(ctx, others); err != nil {
		cfg.Log.Warn("cannot drop an unfinished upload", "name", name, "error", err)
	}
}

// dropIfFinal aborts an upload that trying again cannot complete. Others stay
// for the next attempt.
func dropIfFinal(ctx context.Context, up objectstore.Upload, err error) {
	if !fault.Final(err) || fault.Is(err, fault.Conflict) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	_ = up.Abort(ctx)
}

// Part sizes in bytes. S3 takes at most 10,000 parts of an object.
const (
	commonPart  = 8 << 20
	largestPart = 128 << 20
	mostParts   = 10_000
)

// partSize is the size of the parts of a file. It depends on nothing else, so
// that another process can continue.
func partSize(asked, file int64) (int64, error) {
	if asked > 0 {
		return asked, nil
	}
	const step = 1 << 20
	size := max(commonPart, (file/mostParts/step+1)*step)
	if size > largestPart {
		return 0, fault.Errorf(fault.Unsupported, "the model file would have %d bytes, want at most %d", file, int64(largestPart)*mostParts)
	}
	return size, nil
}
