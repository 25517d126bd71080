package porttest_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
)

// A reserved address refuses connections without a server, is never chosen as a
// free port, and serves one server after another.
func TestAddress(t *testing.T) {
	addr := porttest.Address(t)
	for range 3 {
		if c, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
			if err == nil {
				_ = c.Close()
			}
			t.Errorf("dialling %s without a listener: %v, want %v", addr, err, syscall.ECONNREFUSED)
		}
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := net.Listen("tcp", addr); !errors.Is(err, syscall.EADDRINUSE) {
			if err == nil {
				_ = second.Close()
			}
			t.Errorf("a second server at %s: %v, want %v", addr, err, syscall.EADDRINUSE)
		}
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		_ = l.Close()
	}
}

func TestAddressesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		addr := porttest.Address(t)
		if seen[addr] {
			t.Fatalf("%s was given twice", addr)
		}
		seen[addr] = true
	}
}
