//go:build race && (amd64 || arm64)

package rawconn

import (
	"errors"
	"syscall"
)

// With the race detector the calls are those of package syscall, which tell it
// that whoever reads knows what happened before it was written.

func receive(fd uintptr, b []byte) (int, syscall.Errno) {
	n, err := syscall.Read(int(fd), b)
	return max(n, 0), errno(err)
}

func send(fd uintptr, b []byte) (int, syscall.Errno) {
	n, err := syscall.Write(int(fd), b)
	return max(n, 0), errno(err)
}

func errno(err error) (e syscall.Errno) {
	errors.As(err, &e)
	return e
}
