package dir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

// lockFile is the file in a folder that the writer of the folder has locked: on NFS,
// other machines see locks of regular files that are open for writing, not those of
// folders.
const lockFile = "lock"

// flock locks an open file without waiting. On a file system without locks it
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
	name := path.Join(dir, lockFile)
	for range 100 {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
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
		// The previous holder may have removed the file in between.
		mine, err1 := f.Stat()
		there, err2 := root.Stat(name)
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			return f, nil
		}
		_ = f.Close()
	}
	return nil, fault.Errorf(fault.Conflict, "cannot lock folder %q: other processes keep removing it", dir)
}

// removeDir removes a folder while its lock is held. The lock goes last: what another
// process creates after that is its own.
func removeDir(root *os.Root, dir string) error {
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == lockFile {
			continue
		}
		if err := root.RemoveAll(path.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	if err := root.Remove(path.Join(dir, lockFile)); err != nil {
		return err
	}
	_ = root.Remove(dir) // not if another process has begun
	return nil
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
