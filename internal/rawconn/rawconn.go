// Package rawconn makes TCP connections cheaper for processes that mostly
// sleep and do a little each time they wake.
//
// Around each read and write the Go runtime prepares for a system call that
// may block, and wakes its watchdog thread for that. The watchdog then polls
// every 20 us while anything runs: in a process that wakes for each piece of
// text, that costs more than the work. The sockets of package net never block,
// so here they are read and written without those preparations.
package rawconn

import "net"

// Wrap returns c with cheaper reads and writes, or c itself where that is not
// possible: it must be a *net.TCPConn, on Linux. The result takes c over; it
// still has the methods of *net.TCPConn.
func Wrap(c net.Conn) net.Conn { return wrap(c) }

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
