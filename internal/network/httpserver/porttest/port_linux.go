package porttest

import (
	"fmt"
	"os"
	"syscall"
)

// reserve binds a socket that never listens. The kernel then does not choose its
// port for others, but lets sockets with SO_REUSEADDR listen there (socket(7)).
func reserve() (port int, release func(), err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, os.NewSyscallError("socket", err)
	}
	release = func() { _ = syscall.Close(fd) }
	port, err = bind(fd)
	if err != nil {
		release()
		return 0, nil, err
	}
	return port, release, nil
}

func bind(fd int) (port int, err error) {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	addr, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	v4, ok := addr.(*syscall.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("a socket of IPv4 has the address %v", addr)
	}
	return v4.Port, nil
}
