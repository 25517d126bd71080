package gateway

import (
	"errors"
	"io"
	"sync"
)

// errNoMemory ends the reading of a body for which there is no memory.
var errNoMemory = errors.New("bodies of other requests fill the memory")

// bodies bounds the memory of the bodies that are not stored in the queue yet: they
// are read before a limit can refuse their requests. One tenant gets half of it.
type bodies struct {
	most int64 // bytes; 0 is no limit

	mu   sync.Mutex // guards the fields below
	held int64
	of   map[string]int64 // by tenant
}

func newBodies(most int64) *bodies { return &bodies{most: most, of: map[string]int64{}} }

// take reserves n bytes for a tenant, and reports whether they are free.
func (b *bodies) take(tenant string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most > 0 && (b.held+n > b.most || b.of[tenant]+n > b.most/2) {
		return false
	}
	b.held += n
	b.of[tenant] += n
	return true
}

func (b *bodies) give(tenant string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= n
	if b.of[tenant] -= n; b.of[tenant] == 0 {
		delete(b.of, tenant)
	}
}

// A meteredBody reserves memory for what it has read: a client that sends slowly
// holds no more than it has sent. It belongs to one goroutine.
type meteredBody struct {
	from   io.Reader
	bodies *bodies
	tenant string
	held   int64
}

func (m *meteredBody) Read(p []byte) (int, error) {
	n, err := m.from.Read(p)
	if n > 0 && !m.bodies.take(m.tenant, int64(n)) {
		return 0, errNoMemory
	}
	m.held += int64(n)
	return n, err
}

// loads is the part of the memory that is taken while a stored message is read whose
// size is not known.
const loads = 8

// expect takes memory for a message that is about to be read, until it is read. It
// reports whether there is some.
func (m *meteredBody) expect() (free func(), ok bool) {
	n := min(m.bodies.most/loads, maxLoad)
	if !m.bodies.take(m.tenant, n) {
		return nil, false
	}
	return func() { m.bodies.give(m.tenant, n) }, true
}

// maxLoad is the size of the largest message of most NATS servers.
const maxLoad = 8 << 20

// hold takes memory for what was read beside the body, and reports whether there is some.
func (m *meteredBody) hold(n int64) bool {
	if !m.bodies.take(m.tenant, n) {
		return false
	}
	m.held += n
	return true
}

// free gives the memory back. Further calls do nothing.
func (m *meteredBody) free() {
	if m == nil || m.held == 0 {
		return
	}
	m.bodies.give(m.tenant, m.held)
	m.held = 0
}
