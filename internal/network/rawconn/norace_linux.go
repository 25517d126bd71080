//go:build !race && (amd64 || arm64)

package rawconn

import (
	"syscall"
	"unsafe"
)

// The flags make sure that neither call blocks or raises a signal.

func receive(fd uintptr, b []byte) (int, syscall.Errno) {
	n, _, err := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), //nolint:gosec // kept alive by the call, as package unsafe allows
		syscall.MSG_DONTWAIT, 0, 0)
	return int(n), err
}

func send(fd uintptr, b []byte) (int, syscall.Errno) {
	n, _, err := syscall.RawSyscall6(syscall.SYS_SENDTO, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), //nolint:gosec // kept alive by the call, as package unsafe allows
		syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL, 0, 0)
	return int(n), err
}
