package engineapi

import (
	"context"

	"github.com/gorizond/koldun/internal/fault"
)

// Slots are clients of one engine that computes several requests at the same
// time. Their methods may be called from any goroutine; more calls than there
// are slots wait.
type Slots struct {
	clients []*Client
	free    chan *Client
}

// NewSlots returns n clients of "http://host:port". It does not connect. Errors:
// Invalid.
func NewSlots(rawURL string, n int) (*Slots, error) {
	if n < 1 {
		return nil, fault.Errorf(fault.Invalid, "cannot use an engine with %d slots: the least is 1", n)
	}
	s := &Slots{free: make(chan *Client, n)}
	for range n {
		c, err := New(rawURL)
		if err != nil {
			return nil, err
		}
		s.clients = append(s.clients, c)
		s.free <- c
	}
	return s, nil
}

// Close waits until no connection is left. It does not end running requests.
func (s *Slots) Close() {
	for _, c := range s.clients {
		c.Close()
	}
}

// Do is Client.Do in the next slot that is free.
func (s *Slots) Do(ctx context.Context, r Request, o Options, onText func(Delta) error) (Result, error) {
	c, err := s.take(ctx)
	if err != nil {
		return Result{}, err
	}
	defer func() { s.free <- c }()
	return c.Do(ctx, r, o, onText)
}

// Alive is Client.Alive in the next slot that is free.
func (s *Slots) Alive(ctx context.Context) error {
	c, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer func() { s.free <- c }()
	return c.Alive(ctx)
}

func (s *Slots) take(ctx context.Context) (*Client, error) {
	select {
	case c := <-s.free:
		return c, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
