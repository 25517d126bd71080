// Package rawconn makes reads and writes of TCP connections cheaper for
// processes that sleep most of the time and do little when they wake.
//
// Around each read and write the Go runtime prepares for a system call that may
// block, and wakes its monitor thread (sysmon) for that. The monitor then polls
// every 20 us while anything runs: in a process that wakes for each piece of
// text, that costs more than the work. The sockets of package net never block,
// so this package reads and writes them without those preparations.
package rawconn

import (
	"net"
	"time"
)

// Wrap returns c with cheaper reads and writes, or c itself where that is not
// possible: it must be a *net.TCPConn, on Linux. The result owns c and has the
// methods of *net.TCPConn.
func Wrap(c net.Conn) net.Conn { return wrap(c) }

// Dial connects to "host:port" by TCP and wraps the connection. It blocks until
// it is connected, for at most the timeout. It sends no keep-alives. Errors:
// those of net.Dialer.
func Dial(address string, timeout time.Duration) (net.Conn, error) {
	d := net.Dialer{Timeout: timeout, KeepAlive: -1}
	c, err := d.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return Wrap(c), nil
}

// End shuts a wrapped connection down in both directions, for clients that make
// many connections: Close is a system call that may block as far as the runtime
// knows, so they End each connection and Close several together. End closes
// connections that are not wrapped.
func End(c net.Conn) { end(c) }

// SetLowWater makes a read of a wrapped connection wait until that many bytes
// have come, or the end of the stream or the deadline. 1 is the default; another
// value must be reset to 1, after which a read returns all that has come. It
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
