package dir

import (
	"errors"
	"io"
	"io/fs"
	"syscall"

	"github.com/gorizond/koldun/internal/fault"
)

// kindOf returns the fault kind of an error of the file system; "" if the error
// has a kind already, or none fits.
func kindOf(err error) fault.Kind {
	switch {
	case err == nil, fault.KindOf(err) != fault.Internal:
		return ""
	case errors.Is(err, fs.ErrNotExist):
		return fault.NotFound
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fault.Denied
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return fault.Quota
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, fs.ErrExist):
		return fault.Conflict // a file in place of a folder, or a folder in place of a file
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG), escapes(err):
		return fault.Invalid
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EIO), errors.Is(err, syscall.ESTALE):
		return fault.Transient
	}
	return ""
}

// escapes reports whether os.Root refused a path because a link leads out of
// the root. The package os has no exported error for it.
func escapes(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if err.Error() == "path escapes from parent" {
			return true
		}
	}
	return false
}
