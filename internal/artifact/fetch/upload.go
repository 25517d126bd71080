package fetch

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

// bringLarge transfers a file in parts. Parts are read and written concurrently, in
// any order; the digest takes them in order, each as soon as those before it are
// hashed. A part holds its buffer until it is both written and hashed. Parts get
// their buffers in order, so the part that the digest waits for always has one.
//
// looked means that the target's own copy was checked and does not match. Without
// that check, because the listing had no such file, a bucket may meanwhile have
// completed the upload of a process that was killed while it waited for the
// completion: then there is nothing to continue, and the file exists.
func (e *engine) bringLarge(ctx context.Context, it item, looked bool) (manifest.File, error) {
	o := it.options(e.partSize)
	up, err := e.to.Upload(ctx, it.path, o)
	if err != nil {
		return manifest.File{}, err
	}
	defer func() { _ = up.Close() }()
	if !looked && len(up.Stored()) == 0 {
		f, ok, err := e.finished(ctx, it)
		if ok {
			e.drop(ctx, up)
		}
		if ok || err != nil {
			return f, err
		}
	}
	d, err := e.parts(ctx, it, o, up)
	if err == nil {
		err = d.check(it)
	}
	if err != nil {
		e.dropIfFinal(ctx, up, err)
		return manifest.File{}, err
	}
	object, err := up.Complete(ctx)
	if fault.Is(err, fault.Conflict) {
		e.drop(ctx, up) // its parts do not match the digest
	}
	if err != nil {
		e.dropIfFinal(ctx, up, err)
		return manifest.File{}, err
	}
	return manifest.File{Path: it.path, Size: it.size, SHA256: d.sum(), ETag: object.ETag}, nil
}

// parts transfers the missing parts.
func (e *engine) parts(ctx context.Context, it item, o objectstore.UploadOptions, up objectstore.Upload) (*digest, error) {
	d := resumeDigest(it, up.State(), up.Stored())
	for n := 1; n <= d.parts; n++ {
		it.seen.add(o.PartLen(n))
	}
	keep := startKeeper(ctx, e, up, d.parts)
	g, gctx := errgroup.WithContext(ctx)
	before := make(chan struct{}) // closed when the digest has the parts before
	close(before)
	for n := d.parts + 1; n <= o.Parts(); n++ {
		buf, err := e.buffers.get(gctx, o.PartLen(n))
		if err != nil {
			break // the group has the error
		}
		p := &part{number: n, buf: buf, before: before, after: make(chan struct{})}
		before = p.after
		g.Go(func() error {
			defer e.buffers.put(buf)
			return e.part(gctx, it, o, up, d, p, keep)
		})
	}
	err := g.Wait()
	keep.stop()
	if err == nil {
		err = context.Cause(ctx)
	}
	return d, err
}

// A part is one part in flight.
type part struct {
	number int
	buf    []byte
	before <-chan struct{} // closed when the digest is ready for this part
	after  chan struct{}   // closed when the digest has it
}

func (e *engine) part(ctx context.Context, it item, o objectstore.UploadOptions, up objectstore.Upload, d *digest, p *part, keep *keeper) error {
	offset := int64(p.number-1) * o.PartSize
	if err := e.read(ctx, it, offset, p.buf); err != nil {
		return err
	}
	written := make(chan error, 1)
	go func() { written <- up.WritePart(ctx, p.number, p.buf) }()
	select {
	case <-p.before:
		d.add(p.buf)
		keep.hashed(p.number, d.state())
		close(p.after)
	case <-ctx.Done():
		<-written //nolint:errcheck // the cause of ctx is the error
		return context.Cause(ctx)
	}
	if err := <-written; err != nil {
		return err
	}
	keep.written(p.number)
	return nil
}

// A keeper saves the digest's state when one more part and all parts before it are
// hashed and stored, so that a later process continues from there. Parts that
// arrive during a save wait for the next one.
type keeper struct {
	e  *engine
	up objectstore.Upload

	mu     sync.Mutex
	done   int            // parts from the first that are hashed and stored
	states map[int][]byte // of the digest after a part
	stored map[int]bool
	last   []byte // state after part done, not yet saved

	wake chan struct{}
	end  chan struct{}
}

func startKeeper(ctx context.Context, e *engine, up objectstore.Upload, done int) *keeper {
	k := &keeper{e: e, up: up, done: done, states: map[int][]byte{}, stored: map[int]bool{}, wake: make(chan struct{}, 1), end: make(chan struct{})}
	go k.run(ctx)
	return k
}

func (k *keeper) run(ctx context.Context) {
	defer close(k.end)
	for range k.wake {
		k.mu.Lock()
		state, done := k.last, k.done
		k.last = nil
		k.mu.Unlock()
		if state == nil {
			continue
		}
		if err := k.save(ctx, state); err != nil {
			k.e.log.WarnContext(ctx, "cannot keep how far the file is", "parts", done, "error", err)
		}
	}
}

// saveTimeout bounds a save after the end of the fetch's context: the next run need
// not transfer the saved parts again.
const saveTimeout = 5 * time.Second

func (k *keeper) save(ctx context.Context, state []byte) error {
	if ctx.Err() == nil {
		return k.up.SaveState(ctx, state)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	return k.up.SaveState(ctx, state)
}

func (k *keeper) hashed(number int, state []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.states[number] = state
	k.advance()
}

func (k *keeper) written(number int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stored[number] = true
	k.advance()
}

func (k *keeper) advance() {
	moved := false
	for k.stored[k.done+1] && k.states[k.done+1] != nil {
		k.done++
		k.last = k.states[k.done]
		delete(k.states, k.done)
		delete(k.stored, k.done)
		moved = true
	}
	if !moved {
		return
	}
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// stop waits for the running save.
func (k *keeper) stop() {
	close(k.wake)
	<-k.end
}
