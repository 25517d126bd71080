package proxy

import (
	"context"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/test/waittest"
)

func listen(t *testing.T) (*Proxy, context.CancelFunc, chan struct{}) {
	t.Helper()
	p, err := Listen(t.Context(), 0, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Serve(ctx)
	}()
	t.Cleanup(func() {
		p.Close()
		cancel()
		waittest.Receive(t, "the proxy ends", done)
	})
	return p, cancel, done
}

// backend answers each connection with f.
func backend(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				f(conn)
			}()
		}
	}()
	return l.Addr().String()
}

func dial(t *testing.T, p *Proxy) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(waittest.Patience)); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

func TestHalfClose(t *testing.T) {
	p, _, _ := listen(t)
	// It answers only when the question is over.
	p.Set([]string{backend(t, func(c net.Conn) {
		all, _ := io.ReadAll(c)
		_, _ = c.Write(append(all, '!'))
	})})
	conn := dial(t, p)
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); err != nil || string(got) != "hello!" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestConnectionWaitsForBackend(t *testing.T) {
	p, _, _ := listen(t)
	conn := dial(t, p)
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	p.Set([]string{backend(t, func(c net.Conn) { _, _ = c.Write([]byte("here")) })})
	got := make([]byte, 4)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "here" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestCloseLetsConnectionsEnd(t *testing.T) {
	p, cancel, done := listen(t)
	p.Set([]string{backend(t, func(c net.Conn) { _, _ = io.Copy(c, c) })})
	conn := dial(t, p)
	echo := func() error {
		if _, err := conn.Write([]byte("x")); err != nil {
			return err
		}
		_, err := io.ReadFull(conn, make([]byte, 1))
		return err
	}
	if err := echo(); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if err := echo(); err != nil {
		t.Errorf("the connection ends with the listener: %v", err)
	}
	cancel()
	waittest.Receive(t, "the proxy ends", done)
	if err := echo(); err == nil {
		t.Error("the connection outlives the end")
	}
}

func TestPortInUse(t *testing.T) {
	p, _, _ := listen(t)
	_, err := Listen(t.Context(), p.listener.Addr().(*net.TCPAddr).Port, slog.Default())
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("error = %v", err)
	}
}
