// Package engineapi is the client of one engine. A Client is that of a dllama-api
// process of distributed-llama ("upstream"), or of the embedded engine; a Server
// that of any other OpenAI-compatible server.
//
// Upstream's server aborts when a connection closes without a request, on JSON
// with types that it does not expect, and on bodies whose length it cannot read
// from a header spelt exactly "Content-Length". It serves one connection at a
// time. A Client causes none of that: it writes each request whole, on a
// connection of its own. net/http's transport can give up a connection before
// it has sent anything.
package engineapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"syscall"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/toolcall"
)

// ErrLoading means that the engine does not accept connections: it binds its
// port only when all weights are loaded.
var ErrLoading = errors.New("the engine is loading or not running")

const (
	defaultConnect = 5 * time.Second
	// leaveTimeout bounds the wait for the answer to the harmless request that is
	// sent in place of a cancelled one.
	leaveTimeout = 2 * time.Second
	readSize     = 32 << 10
)

// A Client talks to one engine. It sends one request at a time; its methods
// may be called from any goroutine.
type Client struct {
	addr  string          // host:port
	plain *toolcall.Plain // writes tools into messages; nil: the engine takes tools, or none

	turn chan struct{} // has capacity 1: the sender owns the client until it receives
	// head reads the header of an answer, body its text. The owner of the turn
	// uses them. They are large, to read all that has come at once.
	head, body *bufio.Reader

	leftover sync.WaitGroup // connections that end in the background
}

// New returns a client for "http://host:port". It does not connect. Errors:
// Invalid.
func New(rawURL string) (*Client, error) {
	u, err := parseURL("engine", rawURL)
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return &Client{addr: net.JoinHostPort(u.Hostname(), port), turn: make(chan struct{}, 1),
		head: bufio.NewReaderSize(nil, readSize), body: bufio.NewReaderSize(nil, readSize)}, nil
}

// NewPlain returns a client for an engine that takes plain messages. Requests with
// tools are written as such messages.
func NewPlain(rawURL string, plain *toolcall.Plain) (*Client, error) {
	c, err := New(rawURL)
	if err == nil {
		c.plain = plain
	}
	return c, err
}

// parseURL parses a URL of the form http://HOST:PORT. The owner ("engine",
// "supervisor") appears in its errors, which are Invalid.
func parseURL(owner, rawURL string) (*url.URL, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot use the URL of the %s: it is not of the form http://host:port", owner) // it may hold a password
	}
	if u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || (u.Path != "" && u.Path != "/") {
		return nil, fault.Errorf(fault.Invalid, "cannot use %s URL %q: it is not of the form http://host:port", owner, redacted(u))
	}
	return u, nil
}

// redacted returns a URL without a password. It leaves out all of a URL without
// slashes, because any part of that may be a password.
func redacted(u *url.URL) string {
	if u.Opaque != "" {
		return u.Scheme + ":..."
	}
	return u.Redacted()
}

// Close waits until no connection is left. It does not end running requests.
func (c *Client) Close() { c.leftover.Wait() }

// dial connects. If ctx ends meanwhile, the connection is not just closed, which
// would abort the server: it sends a harmless request first.
func (c *Client) dial(ctx context.Context, timeout time.Duration) (net.Conn, error) {
	if timeout <= 0 {
		timeout = defaultConnect
	}
	type result struct {
		conn net.Conn
		err  error
	}
	dialled := make(chan result, 1)
	c.leftover.Add(1)
	go func() {
		defer c.leftover.Done()
		// Without ctx: a connection that is given up while it is made may still
		// reach the server. Each phase has its timeout, so none needs keep-alives.
		d := net.Dialer{Timeout: timeout, KeepAlive: -1}
		conn, err := d.Dial("tcp", c.addr)
		dialled <- result{conn, err}
	}()
	select {
	case r := <-dialled:
		if r.err != nil {
			return nil, c.dialError(r.err)
		}
		if err := context.Cause(ctx); err != nil {
			c.leave(r.conn)
			return nil, err
		}
		return r.conn, nil
	case <-ctx.Done():
		c.leftover.Add(1)
		go func() {
			defer c.leftover.Done()
			if r := <-dialled; r.err == nil {
				c.leave(r.conn)
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// leave ends a connection on which nothing was sent yet.
func (c *Client) leave(conn net.Conn) {
	c.leftover.Add(1)
	go func() {
		defer c.leftover.Done()
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(leaveTimeout))
		if _, err := io.WriteString(conn, c.harmless()); err != nil {
			return
		}
		var buf [512]byte
		for {
			if _, err := conn.Read(buf[:]); err != nil {
				return
			}
		}
	}()
}

func (c *Client) dialError(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fault.Errorf(fault.Transient, "cannot connect to the engine at %s: %w", c.addr, ErrLoading)
	}
	return fault.Errorf(fault.Transient, "cannot connect to the engine at %s: %w", c.addr, err)
}
