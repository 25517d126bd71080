package fetch

import (
	"context"
	"errors"
	"io"

	"github.com/gorizond/koldun/internal/fault"
)

// read fills buf with the item's bytes from offset. It replaces a connection that
// breaks or stalls by one that continues there; only attempts without any byte
// count.
func (e *engine) read(ctx context.Context, it item, offset int64, buf []byte) error {
	done, refused := 0, 0
	w := e.waits.call()
	defer w.end()
	for n := 1; ; n++ {
		got, err := e.readSome(ctx, it, offset+int64(done), buf[done:])
		done += got
		if done == len(buf) {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if got > 0 {
			n, refused = 1, 0
			w.end()
		}
		if errors.Is(err, errNotOpened) {
			refused++
		}
		if !fault.Is(err, fault.Transient) || n == attempts || refused == refusals {
			return err
		}
		e.log.WarnContext(ctx, "connection replaced", "file", it.path, "offset", offset+int64(done), "error", err)
		w.failed(n, err)
		if err := e.sleep(ctx, pause(n)); err != nil {
			return err
		}
	}
}

// refusals is the number of times in a row that the source may fail to begin an
// answer: its client has retried each time.
const refusals = 2

// A notOpenedError error happened before the first byte.
type notOpenedError struct{ error }

var errNotOpened = errors.New("not opened")

func (n *notOpenedError) Unwrap() error        { return n.error }
func (n *notOpenedError) Is(target error) bool { return target == errNotOpened }

// readSome reads from one connection until it ends.
func (e *engine) readSome(ctx context.Context, it item, offset int64, buf []byte) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := it.open(ctx, offset, int64(len(buf)))
	if fault.Is(err, fault.Transient) {
		return 0, &notOpenedError{err}
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Close() }()
	w := watch(r, e.stall, cancel)
	defer w.stop()
	done := 0
	for done < len(buf) {
		n, err := w.Read(buf[done:])
		done += n
		it.seen.add(int64(n))
		if err == nil {
			continue
		}
		if errors.Is(context.Cause(ctx), errStalled) {
			return done, errStalled
		}
		if errors.Is(err, io.EOF) {
			err = fault.As(fault.Transient, io.ErrUnexpectedEOF)
		}
		return done, err
	}
	return done, nil
}
