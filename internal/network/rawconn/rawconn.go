// Package rawconn makes TCP connections cheaper for processes that mostly
// sleep and do a little each time they wake.
//
// Around each read and write the Go runtime prepares for a system call that may
// block, and wakes its monitor thread (sysmon) for that. The monitor then polls
// every 20 us while anything runs: in a process that wakes for each piece of
// text, that costs more than the work. The sockets of package net never block,
// so this package reads and writes them without those preparations.
//
// The same holds for connecting. With net.Dialer in place of Begin, the median
// time that Koldun adds to the first byte of an answer grows from 390 to 450 us
// (BenchmarkFirstByte/memory/one-process of test/serving).
package rawconn

import (
	"net"
	"time"
)

// Wrap returns c with cheaper reads and writes, or c itself where that is not
// possible: it must be a *net.TCPConn, on Linux. The result owns c and has the
// methods of *net.TCPConn.
func Wrap(c net.Conn) net.Conn { return wrap(c) }

// Dial connects to "host:port" by TCP. The connection has cheaper reads and
// writes, as those of Wrap. Dial blocks until it is connected, for at most the
// timeout. The connection sends no keep-alives. Errors: those of net.Dialer.
func Dial(address string, timeout time.Duration) (net.Conn, error) {
	conn, rest, err := Begin(address, timeout)
	if rest != nil {
		return rest()
	}
	return conn, err
}

// Begin is Dial without blocking. On the same machine, where a connection is
// established at once, it returns the connection or the error, and rest is nil.
// Otherwise it returns only rest, which the caller must call once: rest blocks and
// returns as Dial does.
func Begin(address string, timeout time.Duration) (conn net.Conn, rest func() (net.Conn, error), err error) {
	return begin(address, timeout)
}

// dialNet connects with package net, for names and for other systems.
func dialNet(address string, timeout time.Duration) (net.Conn, error) {
	d := net.Dialer{Timeout: timeout, KeepAlive: -1}
	c, err := d.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return Wrap(c), nil
}

// End shuts a connection down in both directions, for clients that make many
// connections: Close is a system call that may block as far as the runtime knows,
// so they End each connection and Close several together. End closes connections
// that are not of this package.
func End(c net.Conn) { end(c) }

// SetLowWater makes a read of a wrapped connection wait until that many bytes have
// come, or the end of the stream or the deadline. 1 is the default; the caller must
// reset another value to 1, after which a read returns all that has come. It
// ignores connections that are not wrapped.
func SetLowWater(c net.Conn, bytes int) { setLowWater(c, bytes) }

// Listen wraps the connections that a listener accepts.
func Listen(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return Wrap(c), nil
}
