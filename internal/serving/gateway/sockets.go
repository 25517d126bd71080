package gateway

import (
	"net/http"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/openai"
)

// The most connections of WebSockets. Each may hold a body that is read ahead.
const (
	maxSockets          = 256
	maxSocketsPerTenant = 64
)

// sockets counts the connections, which the HTTP server no longer does.
type sockets struct {
	mu   sync.Mutex
	open int
	of   map[string]int // by tenant
	none chan struct{}  // closed while none is open
}

func newSockets() *sockets {
	s := &sockets{of: map[string]int{}, none: make(chan struct{})}
	close(s.none)
	return s
}

// enter counts a connection until it leaves.
func (s *sockets) enter(tenant string) (leave func(), refused *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= maxSockets || s.of[tenant] >= maxSocketsPerTenant {
		return nil, errTooManySockets()
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
	}, nil
}

// wait waits until no connection is open, but no longer than the time given.
func (s *sockets) wait(most time.Duration) {
	s.mu.Lock()
	none := s.none
	s.mu.Unlock()
	select {
	case <-none:
	case <-time.After(most):
	}
}

func errUpgrade() *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusUpgradeRequired, Type: openai.InvalidRequest, Code: "upgrade_required",
		Message: "GET opens a WebSocket here: send 'Connection: Upgrade' and 'Upgrade: websocket'. A single request is a POST.",
	}}
}

func errTooManySockets() *refusal {
	return &refusal{retryAfter: 15 * time.Second, limit: "sockets", Error: openai.Error{
		Status: http.StatusTooManyRequests, Type: openai.RateLimit, Code: openai.CodeRateLimitExceeded,
		Message: "Too many connections are open. Close some of them, or try again later.",
	}}
}
