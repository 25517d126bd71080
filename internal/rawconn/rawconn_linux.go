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

// A conn reads and writes with plain system calls. Package net still waits for
// the socket, keeps deadlines and closes it.
type conn struct {
	*net.TCPConn
	raw              syscall.RawConn
	reading, writing transfer
}

// A transfer is one read or write at a time. It keeps its function between
// calls, so that none allocates.
type transfer struct {
	mu   sync.Mutex // guards the fields below
	b    []byte
	n    int
	err  syscall.Errno
	once func(fd uintptr) (done bool)
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
	w := &conn{TCPConn: tcp, raw: raw}
	w.reading.once, w.writing.once = w.receive, w.send
	return w
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	r := &c.reading
	r.mu.Lock()
	defer r.mu.Unlock()
	r.b = b
	err := c.raw.Read(r.once)
	r.b = nil
	switch {
	case err != nil:
		return 0, renamed(err, "read")
	case r.err != 0:
		return 0, c.failed("read", "recvfrom", r.err)
	case r.n == 0:
		return 0, io.EOF
	}
	return r.n, nil
}

func (c *conn) receive(fd uintptr) bool {
	r := &c.reading
	for {
		if r.n, r.err = receive(fd, r.b); r.err != syscall.EINTR {
			return r.err != syscall.EAGAIN
		}
	}
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	w := &c.writing
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.b = nil }()
	for w.b = b; len(w.b) > 0; w.b = w.b[w.n:] {
		if err := c.raw.Write(w.once); err != nil {
			return len(b) - len(w.b), renamed(err, "write")
		}
		if w.err != 0 {
			return len(b) - len(w.b), c.failed("write", "sendto", w.err)
		}
	}
	return len(b), nil
}

func (c *conn) send(fd uintptr) bool {
	w := &c.writing
	for {
		if w.n, w.err = send(fd, w.b); w.err != syscall.EINTR {
			return w.err != syscall.EAGAIN
		}
	}
}

func end(c net.Conn) {
	w, ok := c.(*conn)
	if !ok {
		_ = c.Close()
		return
	}
	_ = w.raw.Control(func(fd uintptr) { _, _, _ = syscall.RawSyscall(syscall.SYS_SHUTDOWN, fd, syscall.SHUT_RDWR, 0) })
}

func setLowWater(c net.Conn, bytes int) {
	w, ok := c.(*conn)
	if !ok {
		return
	}
	value := int32(bytes)
	// Errors do not matter: a closed connection needs no low water, and others
	// work without.
	_ = w.raw.Control(func(fd uintptr) {
		_, _, _ = syscall.RawSyscall6(syscall.SYS_SETSOCKOPT, fd, syscall.SOL_SOCKET, syscall.SO_RCVLOWAT,
			uintptr(unsafe.Pointer(&value)), unsafe.Sizeof(value), 0) //nolint:gosec // kept alive by the call, as package unsafe allows
	})
}

func (c *conn) failed(op, call string, err syscall.Errno) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(call, err)}
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
