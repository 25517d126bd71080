// Package queue manages a set of JetStream streams and key-value buckets as one
// external resource.
package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/internal/external/stream"
)

// A Spec describes the parts of a queue.
type Spec struct {
	Streams   []stream.Spec   `json:"streams,omitempty"`
	KeyValues []keyvalue.Spec `json:"keyValues,omitempty"`
}

// A Status is the observed state of a queue.
type Status struct {
	Account    string  `json:"account,omitempty"`
	Ports      []int32 `json:"ports,omitempty"`
	Configured bool    `json:"configured,omitempty"`
}

// A Part is the client of one kind of parts.
type Part[S, O any] interface {
	external.Client[S, O]
	external.Viewer[S]
	// Raised returns a spec that does not lower the size or replicas of an existing part,
	// nor any other limit of a stream.
	Raised(ctx context.Context, s S) (S, error)
}

// A Client manages the queues of one NATS account. Several queues share streams and
// buckets, so none makes one smaller; a stream.Client and a keyvalue.Client do.
type Client struct {
	streams    Part[stream.Spec, stream.Status]
	keyValues  Part[keyvalue.Spec, keyvalue.Status]
	connection map[string][]byte
	account    string
	ports      []int32
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New returns a Client that manages the parts by the clients of their kinds, and
// returns the connection with each queue.
func New(streams Part[stream.Spec, stream.Status], keyValues Part[keyvalue.Spec, keyvalue.Status], connection map[string][]byte) *Client {
	return &Client{streams: streams, keyValues: keyValues, connection: connection}
}

// Of adds the public key of the account, and the ports that clients of the servers
// connect to, to the status of each queue.
func (c *Client) Of(account string, ports []int32) *Client {
	c.account, c.ports = account, ports
	return c
}

// Observe reports whether all parts match the spec. A queue exists if any of its
// parts does: Update creates missing parts.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	out := external.Observation[Status]{UpToDate: true, Ready: true}
	add := func(part string, exists, same bool, err error) error {
		if err != nil {
			return err
		}
		out.Exists = out.Exists || exists
		out.UpToDate = out.UpToDate && exists && same
		if !exists && out.Ready {
			out.Ready, out.Message = false, part+" does not exist"
		}
		return nil
	}
	for _, p := range s.Streams {
		p, err := c.streams.Raised(ctx, p)
		if err != nil {
			return external.Observation[Status]{}, err
		}
		o, err := c.streams.Observe(ctx, p)
		if err := add(fmt.Sprintf("stream %q", p.Name), o.Exists, o.UpToDate, err); err != nil {
			return external.Observation[Status]{}, err
		}
	}
	for _, p := range s.KeyValues {
		p, err := c.keyValues.Raised(ctx, p)
		if err != nil {
			return external.Observation[Status]{}, err
		}
		o, err := c.keyValues.Observe(ctx, p)
		if err := add(fmt.Sprintf("key-value bucket %q", p.Bucket), o.Exists, o.UpToDate, err); err != nil {
			return external.Observation[Status]{}, err
		}
	}
	if !out.Exists {
		return external.Observation[Status]{Message: "nothing of the queue exists"}, nil
	}
	out.Status, out.Connection = Status{Account: c.account, Ports: c.ports, Configured: out.UpToDate}, c.connection
	return out, nil
}

// Create creates the parts, or adopts existing ones.
func (c *Client) Create(ctx context.Context, s Spec) error { return c.Update(ctx, s) }

// Update creates missing parts and changes the others in place.
func (c *Client) Update(ctx context.Context, s Spec) error {
	for _, p := range s.Streams {
		p, err := c.streams.Raised(ctx, p)
		if err != nil {
			return err
		}
		if err := c.streams.Create(ctx, p); err != nil {
			return err
		}
	}
	for _, p := range s.KeyValues {
		p, err := c.keyValues.Raised(ctx, p)
		if err != nil {
			return err
		}
		if err := c.keyValues.Create(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// Delete deletes the parts with their contents, and leaves those of other owners. A failure does not stop the
// deletion of other parts.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	var errs []error
	add := func(err error) {
		if !errors.Is(err, external.ErrNotOwner) {
			errs = append(errs, err)
		}
	}
	for _, p := range s.Streams {
		add(c.streams.Delete(ctx, p))
	}
	for _, p := range s.KeyValues {
		add(c.keyValues.Delete(ctx, p))
	}
	return errors.Join(errs...)
}
