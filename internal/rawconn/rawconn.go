// Package rawconn makes TCP connections cheaper for processes that mostly
// sleep and do a little each time they wake.
//
// Around each read and write the Go runtime prepares for a system call that
// may block, and wakes its watchdog thread for that. The watchdog then polls
// every 20 us while anything runs: in a process that wakes for each piece of
// text, that costs more than the work. The sockets of package net never block,
// so here they are read and written without those preparations.
package rawconn

import (
	"net"
	"time"
)

// Wrap returns c with cheaper reads and writes, or c itself where that is not
// possible: it must be a *net.TCPConn, on Linux. The result takes c over; it
// still has the methods of *net.TCPConn.
func Wrap(c net.Conn) net.Conn { return wrap(c) }

// Dial connects to "host:port" by TCP, as cheaply as what it returns reads and
// writes. It blocks until it is connected, for at most the timeout. Nothing
// keeps the connection alive. Errors: those of net.Dialer.
func Dial(address string, timeout time.Duration) (net.Conn, error) {
	conn, rest, err := Begin(address, timeout)
	if rest != nil {
		return rest()
	}
	return conn, err
}

// Begin is Dial for those who cannot wait where they are. It does not block: on
// the same machine, where connecting is over at once, it returns the connection
// or why there is none, and rest is nil. Otherwise it returns only rest, to be
// called once, which blocks as Dial does and returns what that would.
func Begin(address string, timeout time.Duration) (conn net.Conn, rest func() (net.Conn, error), err error) {
	return begin(address, timeout)
}

// dialNet is for what Dial cannot do by itself.
func dialNet(address string, timeout time.Duration) (net.Conn, error) {
	d := net.Dialer{Timeout: timeout, KeepAlive: -1}
	c, err := d.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return Wrap(c), nil
}

// End ends a connection in both directions, which Close does as well. That, too,
// is a system call that may block for all the runtime knows, so whoever makes
// many connections may End each and Close some together. Connections that are
// not of this package are closed.
func End(c net.Conn) { end(c) }

// SetLowWater has a reader of a wrapped connection woken only once so many
// bytes have come, or its end or deadline. 1 is the default; others need another
// call, after which all that has come is read as ever. Connections that are not
// wrapped ignore it.
func SetLowWater(c net.Conn, bytes int) { setLowWater(c, bytes) }

// Listen wraps what a listener accepts.
func Listen(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return Wrap(c), nil
}
