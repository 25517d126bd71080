package s3

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// probedAttr is as long as the longest attribute names of the gateway.
const probedAttr = "user.koldun-probe"

// hasXattrs reports whether files in dir can have user attributes of the size
// that the gateway needs.
func hasXattrs(dir string) bool {
	name := probeName(dir)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return false
	}
	defer func() { _, _ = f.Close(), os.Remove(name) }()
	value := make([]byte, 1024)
	if unix.Fsetxattr(int(f.Fd()), probedAttr, value, 0) != nil {
		return false
	}
	n, err := unix.Fgetxattr(int(f.Fd()), probedAttr, value)
	return err == nil && n == len(value)
}

// hasTmpFiles reports whether dir supports O_TMPFILE: files that get their name
// when they are complete.
func hasTmpFiles(dir string) bool {
	fd, err := unix.Open(dir, unix.O_RDWR|unix.O_TMPFILE|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	name := probeName(dir)
	err = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		return false
	}
	return os.Remove(name) == nil
}
