package rawconn_test

import (
	"errors"
	"io"
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/internal/network/rawconn"
)

func TestDial(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "localhost"} {
		t.Run(host, func(t *testing.T) {
			l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(host, "0"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			_, port, _ := net.SplitHostPort(l.Addr().String())
			c, err := rawconn.Dial(net.JoinHostPort(host, port), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			other, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			if c.LocalAddr().String() != other.RemoteAddr().String() || c.RemoteAddr().String() != other.LocalAddr().String() {
				t.Errorf("the connection is %v to %v, the other end is %v to %v", c.LocalAddr(), c.RemoteAddr(), other.LocalAddr(), other.RemoteAddr())
			}
			if _, err := io.WriteString(c, "there"); err != nil {
				t.Error(err)
			}
			if _, err := io.WriteString(other, "back"); err != nil {
				t.Error(err)
			}
			_ = other.(*net.TCPConn).CloseWrite()
			if b, err := io.ReadAll(c); err != nil || string(b) != "back" {
				t.Errorf("read %q, %v", b, err)
			}
			_ = c.Close()
			if b, err := io.ReadAll(other); err != nil || string(b) != "there" {
				t.Errorf("the other end read %q, %v", b, err)
			}
		})
	}
}

func TestDialRefused(t *testing.T) {
	if c, err := rawconn.Dial(porttest.Address(t), time.Minute); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v, %v", c, err)
	}
}

// TestDialTimeout connects to a port with a full backlog.
func TestDialTimeout(t *testing.T) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(at.(*syscall.SockaddrInet4).Port))
	for range 100 {
		c, err := rawconn.Dial(addr, 50*time.Millisecond)
		if err == nil {
			defer func() { _ = c.Close() }()
			continue
		}
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("got %v", err)
		}
		return
	}
	t.Error("the port takes 100 connections without an Accept")
}
