//go:build amd64 || arm64

package rawconn

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// A conn reads and writes a connection of package net with plain system calls.
// Package net still waits for the socket, keeps deadlines and closes it.
type conn struct {
	*net.TCPConn
	stream
}

func wrap(c net.Conn) net.Conn {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return c
	}
	w := &conn{TCPConn: tcp}
	w.init(raw, tcp)
	return w
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) { return c.read(b) }

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) { return c.write(b) }

// A stream reads and writes a socket that never blocks.
type stream struct {
	raw   syscall.RawConn // waits
	addrs interface {
		LocalAddr() net.Addr
		RemoteAddr() net.Addr
	}
	reading, writing transfer
}

// A transfer is one read or write at a time. It keeps its function between calls,
// so that none allocates.
type transfer struct {
	mu   sync.Mutex // guards the fields below
	b    []byte
	n    int
	err  syscall.Errno
	once func(fd uintptr) (done bool)
}

func (s *stream) init(raw syscall.RawConn, c net.Conn) {
	s.raw, s.addrs = raw, c
	s.reading.once, s.writing.once = s.receive, s.send
}

func (s *stream) read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	r := &s.reading
	r.mu.Lock()
	defer r.mu.Unlock()
	r.b = b
	err := s.raw.Read(r.once)
	r.b = nil
	switch {
	case err != nil:
		return 0, renamed(err, "read")
	case r.err != 0:
		return 0, s.failed("read", "recvfrom", r.err)
	case r.n == 0:
		return 0, io.EOF
	}
	return r.n, nil
}

func (s *stream) receive(fd uintptr) bool {
	r := &s.reading
	for {
		if r.n, r.err = receive(fd, r.b); r.err != syscall.EINTR {
			return r.err != syscall.EAGAIN
		}
	}
}

func (s *stream) write(b []byte) (int, error) {
	w := &s.writing
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.b = nil }()
	for w.b = b; len(w.b) > 0; w.b = w.b[w.n:] {
		if err := s.raw.Write(w.once); err != nil {
			return len(b) - len(w.b), renamed(err, "write")
		}
		if w.err != 0 {
			return len(b) - len(w.b), s.failed("write", "sendto", w.err)
		}
	}
	return len(b), nil
}

func (s *stream) send(fd uintptr) bool {
	w := &s.writing
	for {
		if w.n, w.err = send(fd, w.b); w.err != syscall.EINTR {
			return w.err != syscall.EAGAIN
		}
	}
}

func (s *stream) end() {
	_ = s.raw.Control(func(fd uintptr) { _, _, _ = syscall.RawSyscall(syscall.SYS_SHUTDOWN, fd, syscall.SHUT_RDWR, 0) })
}

func end(c net.Conn) {
	if s, ok := c.(interface{ end() }); ok {
		s.end()
		return
	}
	_ = c.Close()
}

func (s *stream) setLowWater(bytes int) {
	// A closed connection does not need it.
	_ = s.raw.Control(func(fd uintptr) { setOption(fd, syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, bytes) })
}

func setLowWater(c net.Conn, bytes int) {
	if s, ok := c.(interface{ setLowWater(bytes int) }); ok {
		s.setLowWater(bytes)
	}
}

// setOption ignores errors: connections work without the option.
func setOption(fd uintptr, level, option, to int) {
	value := int32(to)
	_, _, err := syscall.RawSyscall6(syscall.SYS_SETSOCKOPT, fd, uintptr(level), uintptr(option),
		uintptr(unsafe.Pointer(&value)), unsafe.Sizeof(value), 0) //nolint:gosec // kept alive by the call, as package unsafe allows
	_ = err
}

func (s *stream) failed(op, call string, err syscall.Errno) error {
	return &net.OpError{Op: op, Net: "tcp", Source: s.addrs.LocalAddr(), Addr: s.addrs.RemoteAddr(), Err: os.NewSyscallError(call, err)}
}

// renamed sets the operation of an error of syscall.RawConn to the one that
// net/http and others look for.
func renamed(err error, op string) error {
	var e *net.OpError
	if errors.As(err, &e) {
		e.Op = op
	}
	return err
}
