package serving_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A tcpProxy forwards TCP connections, and can cut them.
type tcpProxy struct {
	l  net.Listener
	to string

	mu   sync.Mutex
	open map[net.Conn]bool
}

func newTCPProxy(tb testing.TB, to string) *tcpProxy {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	c := &tcpProxy{l: l, to: to, open: map[net.Conn]bool{}}
	go c.accept()
	tb.Cleanup(func() { _ = l.Close(); c.cut() })
	return c
}

func (c *tcpProxy) addr() string { return c.l.Addr().String() }

// cut resets all connections. Data in flight is lost.
func (c *tcpProxy) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		if t, ok := conn.(*net.TCPConn); ok {
			_ = t.SetLinger(0) // discard undelivered data
		}
		_ = conn.Close()
	}
}

func (c *tcpProxy) accept() {
	for {
		in, err := c.l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = in.Close() }()
			out, err := net.Dial("tcp", c.to)
			if err != nil {
				return
			}
			defer func() { _ = out.Close() }()
			c.track(in, true)
			c.track(out, true)
			defer c.track(in, false)
			defer c.track(out, false)
			go func() {
				_, _ = io.Copy(out, in)
				_ = out.Close()
			}()
			_, _ = io.Copy(in, out)
		}()
	}
}

func (c *tcpProxy) track(conn net.Conn, open bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if open {
		c.open[conn] = true
		return
	}
	delete(c.open, conn)
}
