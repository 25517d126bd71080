package rawconn_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/network/rawconn"
)

// BenchmarkRequest is one connection with one small exchange, as an engine gets
// it for each request.
func BenchmarkRequest(b *testing.B) {
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 64)
			if n, err := c.Read(buf); err == nil {
				_, _ = c.Write(buf[:n])
			}
			_ = c.Close()
		}
	}()
	buf := make([]byte, 64)
	for b.Loop() {
		c, err := rawconn.Dial(l.Addr().String(), time.Minute)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.WriteString(c, "request"); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(c, buf[:7]); err != nil {
			b.Fatal(err)
		}
		rawconn.End(c)
		_ = c.Close()
	}
}

// BenchmarkEcho is one small exchange on a standing connection.
func BenchmarkEcho(b *testing.B) {
	for name, wrap := range map[string]func(net.Conn) net.Conn{"net": func(c net.Conn) net.Conn { return c }, "rawconn": rawconn.Wrap} {
		b.Run(name, func(b *testing.B) {
			l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			go func() {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.Copy(wrap(c), struct{ io.Reader }{wrap(c)})
			}()
			c, err := new(net.Dialer).DialContext(b.Context(), "tcp", l.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			c = wrap(c)
			buf := make([]byte, 64)
			for b.Loop() {
				if _, err := c.Write(buf); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(c, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
