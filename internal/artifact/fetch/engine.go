package fetch

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

// Defaults of the options. Their product bounds the memory for parts: 64 MiB.
const (
	defaultConcurrency = 8
	defaultPartSize    = 8 << 20
	defaultStall       = 30 * time.Second
)

// filesAtOnce is the number of files in flight: enough to fill the pauses between
// files, few enough that files complete one after the other.
const filesAtOnce = 4

// fileAttempts is the number of attempts for one file when its bytes are wrong or
// another writer interferes.
const fileAttempts = 3

// An engine transfers items to a store.
type engine struct {
	retrier
	to       objectstore.Store // retries
	buffers  *buffers
	partSize int64
	stall    time.Duration
	meter    *meter
}

// run transfers all items and returns their manifest entries. The first error
// stops the rest.
func (e *engine) run(ctx context.Context, items []item) ([]manifest.File, error) {
	listed, err := e.to.List(ctx, "")
	if err != nil {
		return nil, err
	}
	there := map[string]objectstore.Object{}
	for _, o := range listed {
		there[o.Name] = o
	}
	files := make([]manifest.File, len(items))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(filesAtOnce)
	for i, it := range items {
		g.Go(func() error {
			o, ok := there[it.path]
			f, err := e.file(ctx, it, ok && o.Size == it.size)
			if err != nil {
				return fmt.Errorf("cannot fetch file %q: %w", it.path, err)
			}
			files[i] = f
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return files, nil
}

// file transfers one item. mayBeThere means that the target has a file of its name
// and size.
func (e *engine) file(ctx context.Context, it item, mayBeThere bool) (manifest.File, error) {
	it.seen = e.meter.begin(it.path)
	for n := 1; ; n++ {
		if mayBeThere {
			f, ok, err := e.finished(ctx, it)
			if ok || err != nil {
				return f, err
			}
		}
		f, err := e.bring(ctx, it, mayBeThere)
		again := fault.Is(err, fault.Corrupt) || fault.Is(err, fault.Conflict)
		if !again || n == fileAttempts || ctx.Err() != nil {
			return f, err
		}
		e.log.WarnContext(ctx, "beginning the file anew", "file", it.path, "error", err)
		it.seen.reset()
		if err := e.sleep(ctx, pause(n)); err != nil {
			return manifest.File{}, err
		}
		mayBeThere = true // another writer may have finished it
	}
}

func (e *engine) bring(ctx context.Context, it item, looked bool) (manifest.File, error) {
	if it.size <= e.partSize {
		return e.bringSmall(ctx, it)
	}
	return e.bringLarge(ctx, it, looked)
}

// finished reports whether the target has the item's bytes. It reads and hashes a
// copy without the item's token, but only if that costs less than another
// transfer.
func (e *engine) finished(ctx context.Context, it item) (manifest.File, bool, error) {
	o, err := e.to.Stat(ctx, it.path)
	if fault.Is(err, fault.NotFound) {
		return manifest.File{}, false, nil
	}
	if err != nil || o.Size != it.size {
		return manifest.File{}, false, err
	}
	f := manifest.File{Path: it.path, Size: it.size, SHA256: it.sha256, ETag: o.ETag}
	if o.Token == it.token && it.sha256 != "" {
		it.seen.add(it.size)
		return f, true, nil
	}
	if it.fresh && o.Token != it.token {
		return manifest.File{}, false, nil
	}
	cheap := it.size <= e.partSize || o.ETag == "" // a file of a local folder
	if o.Token != it.token && (!cheap || (it.sha256 == "" && it.git == "")) {
		return manifest.File{}, false, nil
	}
	d := newDigest(it)
	err = e.retry(ctx, func() error {
		d = newDigest(it)
		r, err := e.to.Open(ctx, it.path, 0, -1)
		if err != nil {
			return err
		}
		defer func() { _ = r.Close() }()
		return d.read(r, it)
	})
	switch {
	case fault.Is(err, fault.Corrupt), fault.Is(err, fault.NotFound):
		e.log.InfoContext(ctx, "a file of the target is not the one wanted", "file", it.path, "error", err)
		return manifest.File{}, false, nil
	case err != nil:
		return manifest.File{}, false, err
	}
	it.seen.add(it.size)
	f.SHA256 = d.sum()
	return f, true, nil
}

// bringSmall transfers a file that fits into one buffer.
func (e *engine) bringSmall(ctx context.Context, it item) (manifest.File, error) {
	buf, err := e.buffers.get(ctx, it.size)
	if err != nil {
		return manifest.File{}, err
	}
	defer e.buffers.put(buf)
	if err := e.read(ctx, it, 0, buf); err != nil {
		return manifest.File{}, err
	}
	d := newDigest(it)
	d.add(buf)
	if err := d.check(it); err != nil {
		return manifest.File{}, err
	}
	if err := e.to.Put(ctx, it.path, buf); err != nil {
		return manifest.File{}, err
	}
	f := manifest.File{Path: it.path, Size: it.size, SHA256: d.sum()}
	o, err := e.to.Stat(ctx, it.path)
	if err != nil {
		return manifest.File{}, err
	}
	if o.Size != it.size {
		return manifest.File{}, fault.Errorf(fault.Conflict, "another process writes it as well: it has %d bytes now", o.Size)
	}
	f.ETag = o.ETag
	return f, nil
}

// dropTimeout bounds the clean-up after an error.
const dropTimeout = 30 * time.Second

// dropIfFinal drops an upload that no later run can finish, or that keeps a full
// bucket full. It keeps others for the next run.
func (e *engine) dropIfFinal(ctx context.Context, u objectstore.Upload, err error) {
	switch fault.KindOf(err) {
	case fault.Quota:
	case fault.Corrupt, fault.NotFound, fault.Invalid, fault.Unsupported:
		if ctx.Err() != nil {
			return // another file's error stops this one
		}
	default:
		return
	}
	e.drop(ctx, u)
}

func (e *engine) drop(ctx context.Context, u objectstore.Upload) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTimeout)
	defer cancel()
	if abortErr := u.Abort(ctx); abortErr != nil {
		e.log.WarnContext(ctx, "an unfinished upload stays behind", "error", abortErr)
	}
}
