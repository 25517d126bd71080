package supervise

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gorizond/koldun/internal/fault"
)

// executable is the mode of an installed program, which other users run.
const executable = 0o755

// Install atomically copies the program at from to the file to, with mode 0755. It
// does nothing if the file has the same bytes. The folder of to must exist.
func Install(ctx context.Context, from, to string) error {
	if err := install(ctx, from, to); err != nil {
		return kind(err, fmt.Errorf("cannot install program %q: %w", to, err))
	}
	return nil
}

func install(ctx context.Context, from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // it was only read
	info, err := os.Stat(to)
	switch {
	case err == nil && info.IsDir():
		return fault.Errorf(fault.Invalid, "it is a folder")
	case err == nil && info.Mode().Perm() == executable && same(source, to):
		return nil
	}
	if _, err := source.Seek(0, io.SeekStart); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // it is gone once all went well
	if err := errors.Join(fill(ctx, temp, source), temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), to); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}

func fill(ctx context.Context, to *os.File, from io.Reader) error {
	if _, err := io.Copy(to, reader{ctx, from}); err != nil {
		return err
	}
	if err := to.Chmod(executable); err != nil {
		return err
	}
	return to.Sync()
}

// syncFolder makes a rename durable, if the file system supports it.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // it was only read
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

// same reports whether the file at path is readable and has the bytes of f.
func same(f *os.File, path string) bool {
	other, err := os.Open(path)
	if err != nil {
		return false
	}
	defer other.Close() //nolint:errcheck // it was only read
	a, err1 := f.Stat()
	b, err2 := other.Stat()
	if err1 != nil || err2 != nil || a.Size() != b.Size() {
		return false
	}
	const piece = 256 << 10 // bytes
	left, right := make([]byte, piece), make([]byte, piece)
	for {
		n, err1 := io.ReadFull(f, left)
		m, err2 := io.ReadFull(other, right)
		if n != m || !bytes.Equal(left[:n], right[:m]) {
			return false
		}
		if err1 != nil || err2 != nil {
			return ended(err1) && ended(err2)
		}
	}
}

func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// kind adds the fault kind of its cause to err.
func kind(cause, err error) error {
	switch {
	case errors.Is(cause, syscall.ENOSPC), errors.Is(cause, syscall.EDQUOT):
		return fault.As(fault.Quota, err)
	case errors.Is(cause, fs.ErrNotExist):
		return fault.As(fault.NotFound, err)
	case errors.Is(cause, fs.ErrPermission), errors.Is(cause, syscall.EROFS):
		return fault.As(fault.Denied, err)
	case errors.Is(cause, syscall.ENOTDIR):
		return fault.As(fault.Invalid, err)
	}
	return err
}

// A reader ends with its context.
type reader struct {
	ctx context.Context //nolint:containedctx // io.Copy takes none
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
