package httpserver

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/gorizond/koldun/internal/names"
)

// The most lines of a header: each takes many times its bytes once it is read.
const maxHeaderLines = 128

var errHeaderLines = errors.New("the header has too many lines")

// conns bound the connections of a server. One waits while its client must send something:
// a header, the rest of a body, or the next request. If too many wait, the one that has
// waited longest is closed: so clients that only wait, however many they are, shut out none
// that sends. A connection whose request has come as a whole is not closed.
type conns struct {
	most        int // open
	mostWaiting int

	mu      sync.Mutex // guards the fields below, and the places of connections
	open    int
	waiting *list.List // of *conn, the longest first
}

func newConns() *conns {
	return &conns{most: names.WaitingConnections + names.RequestMaxCount, mostWaiting: names.WaitingConnections, waiting: list.New()}
}

// listener counts the connections of a listener.
func (c *conns) listener(l net.Listener) net.Listener { return &counted{l, c} }

type counted struct {
	net.Listener
	conns *conns
}

func (l *counted) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, all: l.conns}
	c.inHeader.Store(true)
	l.conns.mu.Lock()
	l.conns.open++
	c.place = l.conns.waiting.PushBack(c)
	l.conns.mu.Unlock()
	l.conns.shed()
	return c, nil
}

// shed closes connections that wait, until no more are open than may be.
func (c *conns) shed() {
	for {
		c.mu.Lock()
		first := c.waiting.Front()
		if first == nil || c.open <= c.most && c.waiting.Len() <= c.mostWaiting {
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		_ = first.Value.(*conn).Close() // which leaves
	}
}

type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// changed says that a connection waits for the next request: the answer has been sent, and
// nothing else reads the connection.
func changed(c net.Conn, state http.ConnState) {
	if conn, ok := c.(*conn); ok && state == http.StateIdle {
		conn.wait()
	}
}

// handler says of each connection when it does not wait.
func (c *conns) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, ok := r.Context().Value(connKey{}).(*conn); ok {
			conn.inHeader.Store(false)
			if r.Body == http.NoBody {
				conn.work()
			} else {
				r.Body = &lastRead{r.Body, conn.work}
			}
		}
		h.ServeHTTP(w, r)
	})
}

// lastRead calls done when a body has come.
type lastRead struct {
	io.ReadCloser
	done func()
}

func (b *lastRead) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.done()
	}
	return n, err
}

// A conn is one connection. The server reads it from one goroutine at a time.
type conn struct {
	net.Conn
	all   *conns
	place *list.Element // among those that wait; nil: it works, or has left
	left  bool

	inHeader  atomic.Bool // or else in a body; the server looks for the end of the client meanwhile
	lines     int
	lineBegun bool // the line has a byte
}

// work says that the client need not send anything.
func (c *conn) work() {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	if c.place != nil {
		c.all.waiting.Remove(c.place)
		c.place = nil
	}
}

// wait says that the next request may come. Its first bytes may have come before.
func (c *conn) wait() {
	c.lines, c.lineBegun = 0, true
	c.inHeader.Store(true)
	c.all.mu.Lock()
	if c.place == nil && !c.left {
		c.place = c.all.waiting.PushBack(c)
	}
	c.all.mu.Unlock()
	c.all.shed()
}

func (c *conn) Close() error {
	c.work()
	c.all.mu.Lock()
	if !c.left {
		c.left = true
		c.all.open--
	}
	c.all.mu.Unlock()
	return c.Conn.Close()
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.inHeader.Load() && !c.fewLines(p[:n]) {
		return 0, errHeaderLines
	}
	return n, err
}

// ReadFrom lets the system send files, as without the count.
func (c *conn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }

// CloseWrite lets net/http end an answer to a request that it has not read as a whole, so that
// the client gets the answer and no reset.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// fewLines counts the lines up to the end of a header, and reports whether there are few.
func (c *conn) fewLines(p []byte) bool {
	for _, b := range p {
		switch {
		case b == '\r':
		case b != '\n':
			c.lineBegun = true
		case !c.lineBegun:
			c.inHeader.Store(false)
			return true
		default:
			c.lineBegun = false
			if c.lines++; c.lines > maxHeaderLines {
				return false
			}
		}
	}
	return true
}
