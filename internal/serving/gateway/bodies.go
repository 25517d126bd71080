package gateway

import (
	"errors"
	"io"
	"sync"
)

// errNoMemory ends the reading of a body for which there is no memory.
var errNoMemory = errors.New("bodies of other requests fill the memory")

// bodies bounds the memory of the bodies that are not stored in the queue yet: they
// are read before a limit can refuse their requests. One tenant gets half of it, and the
// last eighth is for tenants that hold little.
type bodies struct {
	most int64 // bytes; 0 is no limit

	mu   sync.Mutex // guards the fields below
	held int64
	of   map[string]int64 // by tenant
}

// The shares of the memory: what one tenant gets, what is kept for tenants that hold
// little, and what little is.
const (
	perTenant = 2
	kept      = 8
	little    = 64
)

func newBodies(most int64) *bodies { return &bodies{most: most, of: map[string]int64{}} }

// take reserves n bytes for a tenant, and reports whether they are free.
func (b *bodies) take(tenant string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most > 0 && !b.free(b.held+n, b.of[tenant]+n) {
		return false
	}
	b.held += n
	b.of[tenant] += n
	return true
}

// free reports whether so many bytes may be held, so many of them by one tenant.
func (b *bodies) free(held, own int64) bool {
	most := b.most
	if own > most/little {
		most -= most / kept
	}
	return held <= most && own <= b.most/perTenant
}

func (b *bodies) give(tenant string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= n
	if b.of[tenant] -= n; b.of[tenant] == 0 {
		delete(b.of, tenant)
	}
}

// A meter is what one request holds of the memory for bodies. It belongs to one goroutine.
type meter struct {
	bodies *bodies
	tenant string
	held   int64
}

func (m *meter) take(n int64) bool {
	if !m.bodies.take(m.tenant, n) {
		return false
	}
	m.held += n
	return true
}

// adopt takes over what another meter of the same tenant holds.
func (m *meter) adopt(other *meter) {
	m.held += other.held
	other.held = 0
}

// loads is the part of the memory that is taken while a stored message is read whose
// size is not known.
const loads = 8

// expect takes memory for a message that is about to be read, until it is read. It
// reports whether there is some.
func (m *meter) expect() (free func(), ok bool) {
	n := min(m.bodies.most/loads, maxLoad)
	if !m.bodies.take(m.tenant, n) {
		return nil, false
	}
	return func() { m.bodies.give(m.tenant, n) }, true
}

// maxLoad is the size of the largest message of most NATS servers.
const maxLoad = 8 << 20

// free gives the memory back. Further calls do nothing.
func (m *meter) free() {
	if m == nil || m.held == 0 {
		return
	}
	m.bodies.give(m.tenant, m.held)
	m.held = 0
}

// firstRead is the memory that the first bytes of a body take.
const firstRead = 4 << 10

// read reads a body of up to so many bytes; size is what its sender says, or -1. It takes
// memory before it uses it, and a sender that is slow holds twice what it has sent at most.
func (m *meter) read(from io.Reader, size, most int64) ([]byte, error) {
	if size < 0 || size > most {
		size = most
	}
	var body []byte
	for {
		if len(body) == cap(body) {
			next := min(max(2*int64(cap(body)), firstRead), size+1) // a byte more, to see the end
			if next <= int64(cap(body)) {
				next = int64(cap(body)) + firstRead // the sender has sent more than it said
			}
			if !m.take(next - int64(cap(body))) {
				return nil, errNoMemory
			}
			body = append(make([]byte, 0, next), body...)
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
