package dir

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve sets the length of a new file and allocates its blocks where the file
// system can, so that a full disk fails before the download and not at its end.
func reserve(f *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT), errors.Is(err, unix.EFBIG):
			return &os.PathError{Op: "fallocate", Path: f.Name(), Err: err}
		}
		return f.Truncate(size)
	}
}

// syncData writes the bytes of a file to the disk.
func syncData(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
	}
}
