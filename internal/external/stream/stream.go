// Package stream manages JetStream streams.
package stream

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

// A Spec describes a stream with limits retention.
type Spec struct {
	Name            string             `json:"name"`
	Subjects        []string           `json:"subjects"`
	Discard         string             `json:"discard,omitempty"`         // "old" or "new"
	MaxBytes        int64              `json:"maxBytes,omitempty"`        // 0: no limit
	MaxAge          *external.Duration `json:"maxAge,omitempty"`          // absent: no limit
	DuplicateWindow *external.Duration `json:"duplicateWindow,omitempty"` // absent: two minutes
	Replicas        int                `json:"replicas,omitempty"`
}

// A Status is what is shown of a stream.
type Status struct {
	Configured bool `json:"configured,omitempty"`
}

// A Client manages the streams of one NATS account.
type Client struct {
	bus        *bus.Bus
	connection map[string][]byte
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New is a Client that hands out the connection with each stream.
func New(b *bus.Bus, connection map[string][]byte) *Client {
	return &Client{bus: b, connection: connection}
}

// Observe looks whether the stream is as the spec says.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	exists, same, err := c.bus.CompareStream(ctx, s.bus())
	if err != nil || !exists {
		return external.Observation[Status]{Message: "the stream does not exist"}, err
	}
	return external.Observation[Status]{
		Exists: true, UpToDate: same, Ready: true, Status: Status{Configured: same}, Connection: c.connection,
	}, nil
}

// Create makes the stream, or takes over one that exists.
func (c *Client) Create(ctx context.Context, s Spec) error { return c.bus.EnsureStream(ctx, s.bus()) }

// Update changes the stream in place.
func (c *Client) Update(ctx context.Context, s Spec) error { return c.bus.EnsureStream(ctx, s.bus()) }

// Delete removes the stream with all its messages.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	if err := c.bus.DeleteStream(ctx, s.Name); err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	return nil
}

func (s Spec) bus() bus.StreamSpec {
	return bus.StreamSpec{
		Name: s.Name, Subjects: s.Subjects, MaxBytes: s.MaxBytes, DiscardNew: s.Discard == "new",
		MaxAge: duration(s.MaxAge), Dedupe: duration(s.DuplicateWindow), Replicas: s.Replicas,
	}
}

func duration(d *external.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return time.Duration(*d)
}
