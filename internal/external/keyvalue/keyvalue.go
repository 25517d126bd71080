// Package keyvalue manages JetStream key-value buckets.
package keyvalue

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

// A Spec describes a key-value bucket.
type Spec struct {
	Bucket string `json:"bucket"`
	// LimitMarkerTTL lets keys expire one by one and watchers learn of it.
	LimitMarkerTTL *external.Duration `json:"limitMarkerTTL,omitempty"`
	Replicas       int                `json:"replicas,omitempty"`
}

// A Status is what is shown of a bucket.
type Status struct {
	Configured bool `json:"configured,omitempty"`
}

// A Client manages the buckets of one NATS account.
type Client struct {
	bus        *bus.Bus
	connection map[string][]byte
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New is a Client that hands out the connection with each bucket.
func New(b *bus.Bus, connection map[string][]byte) *Client {
	return &Client{bus: b, connection: connection}
}

// Observe looks whether the bucket is as the spec says.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	exists, same, err := c.bus.CompareKV(ctx, s.bus())
	if err != nil || !exists {
		return external.Observation[Status]{Message: "the bucket does not exist"}, err
	}
	return external.Observation[Status]{
		Exists: true, UpToDate: same, Ready: true, Status: Status{Configured: same}, Connection: c.connection,
	}, nil
}

// Create makes the bucket, or takes over one that exists.
func (c *Client) Create(ctx context.Context, s Spec) error { return c.bus.EnsureKV(ctx, s.bus()) }

// Update changes the bucket in place.
func (c *Client) Update(ctx context.Context, s Spec) error { return c.bus.EnsureKV(ctx, s.bus()) }

// Delete removes the bucket with all its keys.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	if err := c.bus.DeleteKV(ctx, s.Bucket); err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	return nil
}

func (s Spec) bus() bus.KVSpec {
	spec := bus.KVSpec{Bucket: s.Bucket, Replicas: s.Replicas}
	if s.LimitMarkerTTL != nil {
		spec.Markers = time.Duration(*s.LimitMarkerTTL)
	}
	return spec
}
