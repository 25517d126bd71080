package dir

import (
	"context"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

func (d *store) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	r, err := d.openFile(ctx, name, offset, length)
	if err != nil {
		return nil, d.errorf("read", name, err)
	}
	return r, nil
}

func (d *store) openFile(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	root, err := d.begin(ctx, name, false)
	if err != nil {
		return nil, err
	}
	// Opening a pipe without O_NONBLOCK would block until it has a writer.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err == nil && (offset < 0 || offset > info.Size()) {
		err = fault.Errorf(fault.Invalid, "offset %d is outside its %d bytes", offset, info.Size())
	}
	if err == nil {
		_, err = f.Seek(offset, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	if length < 0 {
		length = info.Size() - offset
	}
	wrap := func(err error) error { return d.errorf("read", name, err) }
	return objectstore.ExactReader(ctxFile{ctxReader{ctx, f}, f}, length, wrap), nil
}

// ctxFile is a ctxReader that closes its file.
type ctxFile struct {
	ctxReader
	io.Closer
}

// ctxReader stops reading when ctx ends.
type ctxReader struct {
	ctx context.Context //nolint:containedctx // the reader's life is bound to it
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
