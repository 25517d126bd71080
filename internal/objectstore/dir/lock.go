package dir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/objectstore"
)

// flock locks an open folder without waiting. On a file system without locks it
// does nothing, and the caller must see to it that there is one writer.
func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil, errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOSYS):
			return nil
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		}
		return &os.PathError{Op: "flock", Path: f.Name(), Err: err}
	}
}

// lockDir creates a folder and locks it. Conflict if another process, or another
// Upload of this one, holds the lock.
func lockDir(root *os.Root, dir string) (*os.File, error) {
	for range 100 {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		f, err := root.Open(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := flock(f); err != nil {
			_ = f.Close()
			return nil, err
		}
		// The previous holder may have removed the folder in between.
		mine, err1 := f.Stat()
		there, err2 := root.Stat(dir)
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			return f, nil
		}
		_ = f.Close()
	}
	return nil, fault.Errorf(fault.Conflict, "cannot lock folder %q: other processes keep removing it", dir)
}

// TryLock locks the work folder. Its uploads have locks of their own.
func (d *store) TryLock(ctx context.Context) (unlock func(), err error) {
	root, err := d.open(true)
	if err == nil {
		err = ctx.Err()
	}
	var f *os.File
	if err == nil {
		f, err = lockDir(root, objectstore.WorkDir)
	}
	switch {
	case errors.Is(err, errLocked):
		return nil, nil
	case err != nil:
		return nil, d.errorf("lock", objectstore.WorkDir, err)
	}
	return func() { _ = f.Close() }, nil
}

var errLocked = fault.Errorf(fault.Conflict, "another process writes here")
