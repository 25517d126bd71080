package serving_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A cutter is a TCP relay whose connections can be cut.
type cutter struct {
	l  net.Listener
	to string

	mu   sync.Mutex
	open map[net.Conn]bool
}

func newCutter(tb testing.TB, to string) *cutter {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	c := &cutter{l: l, to: to, open: map[net.Conn]bool{}}
	go c.accept()
	tb.Cleanup(func() { _ = l.Close(); c.cut() })
	return c
}

func (c *cutter) addr() string { return c.l.Addr().String() }

// cut ends all connections, with whatever is on its way.
func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		if t, ok := conn.(*net.TCPConn); ok {
			_ = t.SetLinger(0) // what is not delivered yet is lost
		}
		_ = conn.Close()
	}
}

func (c *cutter) accept() {
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

func (c *cutter) track(conn net.Conn, open bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if open {
		c.open[conn] = true
		return
	}
	delete(c.open, conn)
}
