// Package proxytest cuts connections in tests.
package proxytest

import (
	"net"
	"sync"
	"testing"
)

// A Proxy forwards TCP connections. It dials its target only for a connection of
// its own, because some servers end with a client that says nothing.
type Proxy struct {
	l  net.Listener
	to string

	mu    sync.Mutex
	open  map[net.Conn]bool
	stall chan struct{} // closed while bytes flow
}

// Start starts a proxy that ends with the test.
func Start(tb testing.TB, to string) *Proxy {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{l: l, to: to, open: map[net.Conn]bool{}, stall: make(chan struct{})}
	close(p.stall)
	go p.accept()
	tb.Cleanup(func() { _ = l.Close(); p.Resume(); p.Cut() })
	return p
}

// Address returns the HOST:PORT at which the target is reached.
func (p *Proxy) Address() string { return p.l.Addr().String() }

// Cut resets all connections. Data in flight is lost.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.SetLinger(0) // discard undelivered data
		}
		_ = c.Close()
	}
}

// Stall holds all bytes back until Resume, as a lost network does: neither end
// notices.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.stall:
		p.stall = make(chan struct{})
	default: // it is stalled
	}
}

// Resume ends Stall.
func (p *Proxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.stall:
	default:
		close(p.stall)
	}
}

func (p *Proxy) accept() {
	for {
		in, err := p.l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = in.Close() }()
			out, err := net.Dial("tcp", p.to)
			if err != nil {
				return
			}
			defer func() { _ = out.Close() }()
			p.track(in, true)
			p.track(out, true)
			defer p.track(in, false)
			defer p.track(out, false)
			go func() {
				p.copy(out, in)
				_ = out.Close()
			}()
			p.copy(in, out)
		}()
	}
}

func (p *Proxy) copy(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		flows := p.stall
		p.mu.Unlock()
		<-flows
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) track(c net.Conn, open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if open {
		p.open[c] = true
		return
	}
	delete(p.open, c)
}
