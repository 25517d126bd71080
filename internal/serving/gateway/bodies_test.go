package gateway

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestBodiesShareMemory checks that bodies hold what was read of them, that one tenant
// gets half of the memory, and that all of it comes back.
func TestBodiesShareMemory(t *testing.T) {
	b := newBodies(100)
	read := func(tenant string, n int) (*meteredBody, error) {
		m := &meteredBody{from: strings.NewReader(strings.Repeat("x", n)), bodies: b, tenant: tenant}
		_, err := io.ReadAll(m)
		return m, err
	}
	first, err := read("a", 30)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read("a", 21); !errors.Is(err, errNoMemory) {
		t.Errorf("more than half for one tenant: %v", err)
	}
	second, err := read("b", 50)
	if err != nil {
		t.Fatalf("another tenant: %v", err)
	}
	if _, err := read("c", 21); !errors.Is(err, errNoMemory) {
		t.Errorf("more than there is: %v", err)
	}
	for _, m := range []*meteredBody{first, second, first} {
		m.free()
	}
	if b.held != 0 || len(b.of) != 0 {
		t.Errorf("%d bytes are held, by %v", b.held, b.of)
	}
}

// TestLargeBodiesAreRefused floods a gateway with bodies that are larger than its
// memory, and than what NATS takes.
func TestLargeBodiesAreRefused(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.MaxBodyMemory = 4 << 10 })
	startRunner(t, w.bus, tinySession, replies("x"))
	large := chatBody(`,"user":"` + strings.Repeat("x", 3<<10) + `"`)
	for range 3 { // the memory comes back
		r, body := w.do("POST", "/v1/chat/completions", large)
		if e := decodeError(t, body); r.StatusCode != http.StatusServiceUnavailable || e.Code != "overloaded" || r.Header.Get("Retry-After") == "" {
			t.Fatalf("%d: %s", r.StatusCode, body)
		}
	}
	for range 10 {
		if r, body := w.do("POST", "/v1/chat/completions", chatBody("")); r.StatusCode != http.StatusOK {
			t.Fatalf("%d: %s", r.StatusCode, body)
		}
	}
	beyond := w.gateway.bus.Conn().MaxPayload() + 1
	if most := w.gateway.maxBody(); beyond <= 1 || most >= beyond {
		t.Errorf("bodies of %d bytes are read, and NATS takes less than %d", most, beyond)
	}
}
