package socket

import (
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/names"
)

// The most connections of WebSockets. The plan of a gateway's memory has as many.
const (
	maxOpen      = names.Sockets
	maxPerTenant = maxOpen / 8
)

// A Counter counts the connections, which the HTTP server no longer does.
type Counter struct {
	mu   sync.Mutex
	open int
	of   map[string]int // by tenant
	none chan struct{}  // closed while none is open
}

// NewCounter returns a counter of no connections.
func NewCounter() *Counter {
	s := &Counter{of: map[string]int{}, none: make(chan struct{})}
	close(s.none)
	return s
}

// Enter counts a connection until it leaves, and reports whether it may be open.
func (s *Counter) Enter(tenant string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= maxOpen || s.of[tenant] >= maxPerTenant {
		return nil, false
	}
	if s.open == 0 {
		s.none = make(chan struct{})
	}
	s.open++
	s.of[tenant]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
		if s.of[tenant]--; s.of[tenant] == 0 {
			delete(s.of, tenant)
		}
		if s.open == 0 {
			close(s.none)
		}
	}, true
}

// Wait waits until no connection is open, but no longer than the time given.
func (s *Counter) Wait(most time.Duration) {
	s.mu.Lock()
	none := s.none
	s.mu.Unlock()
	select {
	case <-none:
	case <-time.After(most):
	}
}
