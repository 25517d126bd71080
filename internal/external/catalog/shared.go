package catalog

import (
	"context"
	"sync"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// Shared holds what the clients on one connection to NATS share: clients that
// keep state between calls, and one subscription per subject for all watches. It
// is safe for concurrent use.
type Shared struct {
	bus *bus.Bus

	mu            sync.Mutex
	closed        bool
	clients       map[string]any
	subscriptions map[string]*subscription
}

// NewShared returns an empty Shared. Close has to be called once, before the
// connection is closed.
func NewShared(b *bus.Bus) *Shared {
	return &Shared{bus: b, clients: map[string]any{}, subscriptions: map[string]*subscription{}}
}

// Close ends all subscriptions.
func (s *Shared) Close() {
	s.mu.Lock()
	s.closed = true
	subscriptions := s.subscriptions
	s.mu.Unlock()
	for _, one := range subscriptions {
		one.close()
	}
}

// Follow returns a channel that holds one token whenever a message was published
// on a subject for which topic returns one of the given topics. stop has to be
// called once. Errors: Transient.
func (s *Shared) Follow(subject string, topic func(subject string) string, topics ...string) (news <-chan struct{}, stop func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, fault.Errorf(fault.Transient, "cannot subscribe to %q: the connection is closed", subject)
	}
	one := s.subscriptions[subject]
	if one == nil {
		if one, err = subscribe(s.bus, subject, topic); err != nil {
			return nil, nil, err
		}
		s.subscriptions[subject] = one
	}
	news, stop = one.follow(topics)
	return news, stop, nil
}

// sharedClient returns the client of a kind on the connection, which all managed
// resources of the kind share.
func sharedClient[C any](ctx context.Context, c Connections, kind string, open func(*bus.Bus) C) (C, error) {
	var none C
	s, err := c.Shared(ctx)
	if err != nil {
		return none, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	client, ok := s.clients[kind]
	if !ok {
		client = open(s.bus)
		s.clients[kind] = client
	}
	typed, ok := client.(C)
	if !ok {
		return none, fault.Errorf(fault.Internal, "cannot open client of %s: it is a %T", kind, client)
	}
	return typed, nil
}
