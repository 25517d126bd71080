//go:build race && (amd64 || arm64)

package rawconn

import (
	"errors"
	"syscall"
)

// With the race detector the calls are those of package syscall, which report
// to it that a write happens before the read of its data.

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
