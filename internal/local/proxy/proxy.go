// Package proxy makes a Service of a port: what connects to it is connected to
// one of the pods that are ready.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

const (
	// maxConns is how many connections there are at the same time; more wait to be accepted.
	// A server closes those whose clients send nothing long before there are as many, so
	// that these clients shut out no others, see httpserver.
	maxConns = 4 * names.WaitingConnections
	// patience is how long a connection waits for a pod that takes it, which
	// bridges the restart of one.
	patience = 5 * time.Second
	between  = 50 * time.Millisecond
)

// A Proxy listens on one loopback port. It is safe for concurrent use.
type Proxy struct {
	listener net.Listener
	logger   *slog.Logger

	mu       sync.Mutex
	backends []string
	next     int
}

// Listen opens 127.0.0.1:port; port 0 takes a free one. A port in use is a
// Conflict.
func Listen(ctx context.Context, port int, logger *slog.Logger) (*Proxy, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fault.Errorf(fault.Conflict, "port %d is in use", port)
	case errors.Is(err, syscall.EACCES):
		return nil, fault.Errorf(fault.Denied, "port %d may not be used", port)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on port %d: %w", port, err)
	}
	return &Proxy{listener: l, logger: logger}, nil
}

// Address is HOST:PORT.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Set says to which addresses new connections go, by turns.
func (p *Proxy) Set(backends []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.backends = backends
}

// Close accepts no more connections. Those that are open live on until ctx of
// Serve ends.
func (p *Proxy) Close() { _ = p.listener.Close() }

// Serve passes connections on until Close is called, then waits until all of
// them have ended. When ctx ends it cuts them.
func (p *Proxy) Serve(ctx context.Context) {
	var conns sync.WaitGroup
	defer conns.Wait()
	free := make(chan struct{}, maxConns)
	for {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		conn, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			<-free
			p.logger.Warn("cannot accept a connection", "addr", p.Address(), "error", err)
			wait(ctx, between)
			continue
		}
		conns.Go(func() {
			defer func() { <-free }()
			p.pass(ctx, conn)
		})
	}
}

// pass carries one connection to its end.
func (p *Proxy) pass(ctx context.Context, client net.Conn) {
	defer func() { _ = client.Close() }()
	backend := p.dial(ctx)
	if backend == nil {
		return
	}
	defer func() { _ = backend.Close() }()
	cut := context.AfterFunc(ctx, func() {
		_ = client.Close()
		_ = backend.Close()
	})
	defer cut()
	var both sync.WaitGroup
	both.Go(func() { oneWay(backend, client) })
	both.Go(func() { oneWay(client, backend) })
	both.Wait()
}

// oneWay copies until the end of one direction, and passes that end on. An
// error ends both directions.
func oneWay(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		_ = to.Close()
		_ = from.Close()
		return
	}
	if half, ok := to.(*net.TCPConn); ok {
		_ = half.CloseWrite()
	}
}

// dial connects to a backend, or returns nil when none takes the connection.
func (p *Proxy) dial(ctx context.Context) net.Conn {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var dialer net.Dialer
	for {
		if addr := p.pick(); addr != "" {
			if conn, err := dialer.DialContext(ctx, "tcp", addr); err == nil {
				return conn
			}
		}
		if !wait(ctx, between) {
			return nil
		}
	}
}

func (p *Proxy) pick() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.backends) == 0 {
		return ""
	}
	p.next++
	return p.backends[p.next%len(p.backends)]
}

func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
