// Package consumer manages durable JetStream consumers that clients pull from.
package consumer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// A Spec describes a consumer. Stream, Name, the policies and where it starts
// cannot be changed; everything else is changed in place.
type Spec struct {
	Stream            string              `json:"stream"`
	Name              string              `json:"name"`
	Description       string              `json:"description,omitempty"`
	FilterSubjects    []string            `json:"filterSubjects,omitempty"`
	DeliverPolicy     string              `json:"deliverPolicy,omitempty"` // empty: All
	StartSequence     uint64              `json:"startSequence,omitempty"` // with ByStartSequence
	StartTime         *time.Time          `json:"startTime,omitempty"`     // with ByStartTime
	AckPolicy         string              `json:"ackPolicy,omitempty"`     // empty: Explicit
	ReplayPolicy      string              `json:"replayPolicy,omitempty"`  // empty: Instant
	AckWait           *external.Duration  `json:"ackWait,omitempty"`
	MaxDeliver        int                 `json:"maxDeliver,omitempty"` // 0: no limit
	Backoff           []external.Duration `json:"backoff,omitempty"`
	MaxAckPending     int                 `json:"maxAckPending,omitempty"` // 0: as it is, of a new one the server's default
	InactiveThreshold *external.Duration  `json:"inactiveThreshold,omitempty"`
	HeadersOnly       bool                `json:"headersOnly,omitempty"`
	Replicas          int                 `json:"replicas,omitempty"` // 0: as the stream

	Owner external.Owner `json:"-"` // of the managed resource
}

// A Status is what is shown of a consumer. Numbers that change with each message
// are not: a reconciler could not keep up with them.
type Status struct {
	Configured bool       `json:"configured,omitempty"`
	Created    *time.Time `json:"created,omitempty"`
}

// A Client manages the consumers of one NATS account.
type Client struct {
	bus        *bus.Bus
	connection map[string][]byte
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New is a Client that hands out the connection with each consumer.
func New(b *bus.Bus, connection map[string][]byte) *Client {
	return &Client{bus: b, connection: connection}
}

// callLimit bounds one question to the server.
const callLimit = 5 * time.Second

// Observe looks whether the consumer is as the spec says. One that differs in
// what cannot be changed is an error of kind Conflict; a stream that does not
// exist is NotFound.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	var none external.Observation[Status]
	want, err := s.config()
	if err != nil {
		return none, s.failed("observe", err)
	}
	if err := c.may(ctx, s); s.Owner.Deleting && errors.Is(err, external.ErrNotOwner) {
		return external.Observation[Status]{Message: err.Error()}, nil // it stays
	} else if err != nil {
		return none, s.failed("observe", err)
	}
	have, err := c.look(ctx, s)
	if err != nil {
		return none, s.failed("observe", err)
	}
	if have == nil {
		return external.Observation[Status]{Message: "the consumer does not exist"}, nil
	}
	if err := immutable(have.Config, want); err != nil {
		return none, s.failed("observe", err)
	}
	same := same(have.Config, want)
	created := have.Created.UTC().Truncate(time.Second)
	return external.Observation[Status]{
		Exists: true, UpToDate: same, Ready: true, Connection: c.connection,
		Status: Status{Configured: same, Created: &created},
	}, nil
}

// Create makes the consumer, or takes over one that exists.
func (c *Client) Create(ctx context.Context, s Spec) error { return c.ensure(ctx, s, "create") }

// Update changes the consumer in place. Its place in the stream stays.
func (c *Client) Update(ctx context.Context, s Spec) error { return c.ensure(ctx, s, "update") }

// Delete removes the consumer, and with it what it knows of deliveries.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	err := c.may(ctx, s)
	if err == nil {
		err = c.remove(ctx, s)
	}
	if err == nil || errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	return s.failed("delete", err)
}

func (c *Client) remove(ctx context.Context, s Spec) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	return bus.Kinded(c.bus.JetStream().DeleteConsumer(ctx, s.Stream, s.Name))
}

func (c *Client) ensure(ctx context.Context, s Spec, verb string) error {
	want, err := s.config()
	if err != nil {
		return s.failed(verb, err)
	}
	if err := c.may(ctx, s); err != nil {
		return s.failed(verb, err)
	}
	have, err := c.look(ctx, s)
	if err != nil {
		return s.failed(verb, err)
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	if have == nil {
		_, err = c.bus.JetStream().CreateConsumer(ctx, s.Stream, want)
		return s.failed(verb, bus.Kinded(err))
	}
	if err := immutable(have.Config, want); err != nil {
		return s.failed(verb, err)
	}
	if same(have.Config, want) {
		return nil
	}
	_, err = c.bus.JetStream().UpdateConsumer(ctx, s.Stream, merge(have.Config, want))
	return s.failed(verb, bus.Kinded(err))
}

// look returns nil if there is no such consumer.
func (c *Client) look(ctx context.Context, s Spec) (*jetstream.ConsumerInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	found, err := c.bus.JetStream().Consumer(ctx, s.Stream, s.Name)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil, nil //nolint:nilnil // none is an answer
	}
	if errors.Is(err, jetstream.ErrNotPullConsumer) {
		return nil, fault.Errorf(fault.Conflict, "one of that name exists and pushes: delete it, or choose another name")
	}
	if err != nil {
		return nil, bus.Kinded(err)
	}
	return found.CachedInfo(), nil
}

func (s Spec) failed(verb string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot %s consumer %q of stream %q: %w", verb, s.Name, s.Stream, err)
}
