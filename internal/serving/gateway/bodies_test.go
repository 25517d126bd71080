package gateway

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestBodiesShareMemory checks that bodies hold what was read of them, that one tenant
// gets half of the memory and tenants that hold little the last of it, and that all of it
// comes back.
func TestBodiesShareMemory(t *testing.T) {
	const size = 6400
	b := newBodies(size)
	var all []*meter
	read := func(tenant string, n int64) error {
		m := &meter{bodies: b, tenant: tenant}
		all = append(all, m)
		body, err := m.read(strings.NewReader(strings.Repeat("x", int(n))), n, size)
		if err == nil && int64(len(body)) != n {
			t.Errorf("%d of %d bytes are read", len(body), n)
		}
		return err
	}
	for _, c := range []struct {
		tenant string
		size   int64
		fits   bool
	}{
		{"a", 2000, true}, {"a", 1500, false}, // more than half for one tenant
		{"b", 3000, true}, {"c", 550, true}, {"c", 100, false}, // of the last eighth
		{"d", little, true}, {"e", little, true}, {"d", little, false},
	} {
		if err := read(c.tenant, c.size); c.fits != (err == nil) || err != nil && !errors.Is(err, errNoMemory) {
			t.Errorf("%d bytes of %s: %v", c.size, c.tenant, err)
		}
	}
	for _, m := range append(all, all...) {
		m.free()
	}
	if b.held != 0 || len(b.of) != 0 {
		t.Errorf("%d bytes are held, by %v", b.held, b.of)
	}
}

// TestBodiesTakeMemoryFirst holds that a body never has more memory than it has taken,
// whatever its sender says, and that one that sends slowly holds little.
func TestBodiesTakeMemoryFirst(t *testing.T) {
	const most = 1 << 20
	for name, says := range map[string]int64{"true": 300_000, "unknown": -1, "too little": 1000, "too much": most} {
		b := newBodies(4 * most)
		m := &meter{bodies: b, tenant: "a"}
		sent, worst := 0, int64(0)
		from := readerFunc(func(p []byte) (int, error) {
			worst = max(worst, b.held-2*int64(sent))
			if sent == 300_000 {
				return 0, io.EOF
			}
			n := min(len(p), 100, 300_000-sent)
			sent += n
			return n, nil
		})
		body, err := m.read(from, says, most)
		if err != nil || len(body) != 300_000 || int64(cap(body)) > b.held || worst > firstRead {
			t.Errorf("%s: %d bytes with %d of memory, %d held, %d more than twice what was sent, %v", name, len(body), cap(body), b.held, worst, err)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

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
