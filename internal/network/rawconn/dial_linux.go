//go:build amd64 || arm64

package rawconn

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// A socket is a connection of Begin. Package os waits for it, keeps deadlines and
// closes it.
type socket struct {
	file
	stream
	local, remote *net.TCPAddr
}

// A file is the part of *os.File that a socket needs.
type file interface {
	io.Closer
	syscall.Conn
	SetDeadline(t time.Time) error
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}

func begin(address string, timeout time.Duration) (net.Conn, func() (net.Conn, error), error) {
	to, known := resolved(address)
	if !known {
		return nil, func() (net.Conn, error) { return dialNet(address, timeout) }, nil
	}
	family := syscall.AF_INET6
	if to.Addr().Is4() {
		family = syscall.AF_INET
	}
	remote := net.TCPAddrFromAddrPort(to)
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, dialError(remote, os.NewSyscallError("socket", err))
	}
	setOption(uintptr(fd), syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	begun := connect(fd, to)
	over, why := stands(fd) // a socket returns its error only once
	s := &socket{file: os.NewFile(uintptr(fd), "tcp"), remote: remote}
	rest := func() (net.Conn, error) {
		err := why
		if err == nil {
			err = s.establish(begun, timeout)
		}
		if err != nil {
			_ = s.Close()
			return nil, dialError(remote, err)
		}
		return s, nil
	}
	if !over {
		return nil, rest, nil
	}
	conn, err := rest()
	return conn, nil, err
}

// resolved parses an address that needs no lookup.
func resolved(address string) (to netip.AddrPort, ok bool) {
	to, err := netip.ParseAddrPort(address)
	return to, err == nil && to.Addr().Zone() == ""
}

func dialError(to net.Addr, err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: err}
}

// connect begins to connect. On the same machine the connection then stands.
func connect(fd int, to netip.AddrPort) syscall.Errno {
	port := to.Port()<<8 | to.Port()>>8 // in network byte order; both architectures are little-endian
	var at unsafe.Pointer
	var size uintptr
	if to.Addr().Is4() {
		a := &syscall.RawSockaddrInet4{Family: syscall.AF_INET, Port: port, Addr: to.Addr().As4()}
		at, size = unsafe.Pointer(a), unsafe.Sizeof(*a) //nolint:gosec // the form that the system call expects
	} else {
		a := &syscall.RawSockaddrInet6{Family: syscall.AF_INET6, Port: port, Addr: to.Addr().As16()}
		at, size = unsafe.Pointer(a), unsafe.Sizeof(*a) //nolint:gosec // as above
	}
	_, _, err := syscall.RawSyscall(syscall.SYS_CONNECT, uintptr(fd), uintptr(at), size)
	return err
}

// establish waits until the socket is connected.
func (s *socket) establish(begun syscall.Errno, timeout time.Duration) error {
	switch begun {
	case 0, syscall.EINPROGRESS, syscall.EINTR:
	default:
		return os.NewSyscallError("connect", begun)
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	if err := s.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	var failed error
	err = raw.Write(func(fd uintptr) (done bool) {
		done, failed = stands(int(fd))
		if done && failed == nil {
			s.local, failed = localAddr(int(fd))
		}
		return done
	})
	switch {
	case err != nil:
		return err
	case failed != nil:
		return failed
	case s.local.AddrPort() == s.remote.AddrPort():
		// Without a listener the kernel may choose the same port for this end, and
		// then connects the socket to itself.
		return os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
	s.init(raw, s)
	return s.SetWriteDeadline(time.Time{})
}

// stands reports whether a socket has connected or failed to.
func stands(fd int) (done bool, err error) {
	if _, err := syscall.Getpeername(fd); err == nil {
		return true, nil
	}
	why, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
	switch {
	case err != nil:
		return true, os.NewSyscallError("getsockopt", err)
	case why != 0:
		return true, os.NewSyscallError("connect", syscall.Errno(why))
	}
	return false, nil
}

func localAddr(fd int) (*net.TCPAddr, error) {
	at, err := syscall.Getsockname(fd)
	if err != nil {
		return nil, os.NewSyscallError("getsockname", err)
	}
	switch at := at.(type) {
	case *syscall.SockaddrInet4:
		return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4(at.Addr), uint16(at.Port))), nil
	case *syscall.SockaddrInet6:
		return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom16(at.Addr), uint16(at.Port))), nil
	}
	return nil, errors.New("the socket is not of TCP")
}

// Read implements net.Conn.
func (s *socket) Read(b []byte) (int, error) { return s.read(b) }

// Write implements net.Conn.
func (s *socket) Write(b []byte) (int, error) { return s.write(b) }

// LocalAddr implements net.Conn.
func (s *socket) LocalAddr() net.Addr { return s.local }

// RemoteAddr implements net.Conn.
func (s *socket) RemoteAddr() net.Addr { return s.remote }
