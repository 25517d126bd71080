package rawconn_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/network/rawconn"
	"github.com/gorizond/koldun/test/waittest"
)

// pair is a wrapped connection and the other end of it.
func pair(t testing.TB) (wrapped, other net.Conn) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := rawconn.Listen(l).Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- c
	}()
	other, err = new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	wrapped = waittest.Receive(t, "a connection", accepted)
	t.Cleanup(func() { _ = wrapped.Close(); _ = other.Close() })
	for _, c := range []net.Conn{wrapped, other} {
		if err := c.SetDeadline(time.Now().Add(waittest.Patience)); err != nil {
			t.Fatal(err)
		}
	}
	return wrapped, other
}

func TestCarriesAll(t *testing.T) {
	for name, flip := range map[string]bool{"Write": false, "Read": true} {
		t.Run(name, func(t *testing.T) {
			from, to := pair(t)
			if flip {
				from, to = to, from
			}
			// Far more than the kernel buffers, so that writes have to wait.
			sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
			go func() {
				if n, err := from.Write(sent); n != len(sent) || err != nil {
					t.Errorf("wrote %d of %d: %v", n, len(sent), err)
				}
				_ = from.Close()
			}()
			got, err := io.ReadAll(to)
			if err != nil || !bytes.Equal(got, sent) {
				t.Errorf("read %d bytes of %d: %v", len(got), len(sent), err)
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	c, _ := pair(t)
	if n, err := c.Read(nil); n != 0 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
	if n, err := c.Write(nil); n != 0 || err != nil {
		t.Errorf("wrote %d, %v", n, err)
	}
}

func TestReadEnds(t *testing.T) {
	cases := map[string]struct {
		end  func(c, other net.Conn) error
		want error
	}{
		"Deadline": {func(c, _ net.Conn) error { return c.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		"Closed":   {func(c, _ net.Conn) error { return c.Close() }, net.ErrClosed},
		"End":      {func(_, other net.Conn) error { return other.Close() }, io.EOF},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			conn, other := pair(t)
			ended := make(chan error, 1)
			go func() {
				_, err := conn.Read(make([]byte, 1))
				ended <- err
			}()
			if err := c.end(conn, other); err != nil {
				t.Fatal(err)
			}
			err := waittest.Receive(t, "the read ends", ended)
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			var op *net.OpError
			if errors.As(err, &op) && op.Op != "read" {
				t.Errorf("the operation is %q", op.Op)
			}
		})
	}
}

func TestWriteEnds(t *testing.T) {
	c, other := pair(t)
	_ = other.(*net.TCPConn).SetLinger(0) // closing resets the connection
	_ = other.Close()
	var err error
	for err == nil {
		_, err = c.Write([]byte("x"))
	}
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "write" {
		t.Errorf("got %v", err)
	}
}

// TestOrder would show a data race if a reader did not know what happened
// before the bytes were written.
func TestOrder(t *testing.T) {
	a, b := pair(t)
	value := 0
	var wg sync.WaitGroup
	wg.Go(func() {
		value = 1
		_, _ = a.Write([]byte("x"))
	})
	if _, err := io.ReadFull(b, make([]byte, 1)); err != nil || value != 1 {
		t.Errorf("read %d, %v", value, err)
	}
	wg.Wait()
}

func TestLowWater(t *testing.T) {
	c, other := pair(t)
	rawconn.SetLowWater(c, 1<<10)
	if _, err := other.Write([]byte("some")); err != nil {
		t.Fatal(err)
	}
	rawconn.SetLowWater(c, 1)
	b := make([]byte, 8)
	if n, err := c.Read(b); err != nil || string(b[:n]) != "some" {
		t.Errorf("read %q, %v", b[:n], err)
	}
	rawconn.SetLowWater(c, 1<<10)
	_ = other.Close()
	if _, err := c.Read(b); !errors.Is(err, io.EOF) { // the end is never held back
		t.Errorf("got %v", err)
	}
	rawconn.SetLowWater(other, 1) // not wrapped: nothing happens
}

func TestServesHTTP(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan struct{})
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done() // the client's leaving is noticed while nothing is read
		close(left)
	})}
	go func() { _ = srv.Serve(rawconn.Listen(l)) }()
	defer func() { _ = srv.Close() }()
	ctx, cancel := context.WithCancel(waittest.Context(t))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+l.Addr().String(), bytes.NewReader([]byte("hello")))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := waittest.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b := make([]byte, 5)
	if _, err := io.ReadFull(resp.Body, b); err != nil || string(b) != "hello" {
		t.Errorf("got %q, %v", b, err)
	}
	cancel()
	waittest.Receive(t, "the client's leaving is noticed", left)
}

func TestWrapsOnlyTCP(t *testing.T) {
	a, b := net.Pipe()
	defer func() { _ = a.Close(); _ = b.Close() }()
	if rawconn.Wrap(a) != a {
		t.Error("a pipe was wrapped")
	}
}
