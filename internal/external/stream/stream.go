// Package stream manages JetStream streams.
package stream

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// callWithin is the time limit of one change: the reconciler retries it.
const callWithin = 15 * time.Second

// A Spec describes a stream with limits retention. Absent and zero mean no
// limit for a new stream.
type Spec struct {
	Name              string             `json:"name"`
	Subjects          []string           `json:"subjects"`
	Discard           string             `json:"discard,omitempty"` // "old" or "new"
	MaxBytes          int64              `json:"maxBytes,omitempty"`
	MaxMsgs           int64              `json:"maxMsgs,omitempty"`
	MaxMsgSize        int32              `json:"maxMsgSize,omitempty"` // bytes
	MaxMsgsPerSubject int64              `json:"maxMsgsPerSubject,omitempty"`
	MaxAge            *external.Duration `json:"maxAge,omitempty"`
	DuplicateWindow   *external.Duration `json:"duplicateWindow,omitempty"` // absent: two minutes
	Replicas          int                `json:"replicas,omitempty"`
	Placement         *Placement         `json:"placement,omitempty"` // absent: unchanged
}

// A Placement selects the servers of a cluster that store a stream.
type Placement struct {
	Cluster string   `json:"cluster,omitempty"`
	Tags    []string `json:"tags,omitempty"`
}

// Bus returns the placement for the bus; nil is none.
func (p *Placement) Bus() bus.Placement {
	if p == nil {
		return bus.Placement{}
	}
	return bus.Placement{Cluster: p.Cluster, Tags: p.Tags}
}

// A Status is the observed state of a stream.
type Status struct {
	Configured      bool               `json:"configured,omitempty"`
	Created         *time.Time         `json:"created,omitempty"`
	Storage         string             `json:"storage,omitempty"` // File or Memory
	Replicas        int                `json:"replicas,omitempty"`
	DuplicateWindow *external.Duration `json:"duplicateWindow,omitempty"`
}

// A Client manages the streams of one NATS account.
type Client struct {
	bus        *bus.Bus
	connection map[string][]byte
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New returns a Client that returns the connection with each stream.
func New(b *bus.Bus, connection map[string][]byte) *Client {
	return &Client{bus: b, connection: connection}
}

// Observe reports whether the stream matches the spec.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	have, same, err := c.bus.CompareStream(ctx, s.bus())
	if err != nil || have == nil {
		return external.Observation[Status]{Message: "the stream does not exist"}, err
	}
	window, created := external.Duration(have.Config.Duplicates), have.Created.UTC().Truncate(time.Second)
	o := external.Observation[Status]{Exists: true, UpToDate: same, Ready: true, Connection: c.connection, Status: Status{
		Configured: same, Created: &created, Storage: have.Config.Storage.String(), Replicas: have.Config.Replicas, DuplicateWindow: &window,
	}}
	if !same {
		o.Message = "its configuration differs"
	}
	return o, nil
}

// Create creates the stream, or adopts an existing one.
func (c *Client) Create(ctx context.Context, s Spec) error {
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	return c.bus.EnsureStream(ctx, s.bus())
}

// Update changes the stream in place.
func (c *Client) Update(ctx context.Context, s Spec) error { return c.Create(ctx, s) }

// Raised returns the spec with the limits and replicas of the existing stream where
// those are greater, or none: several owners share the stream, and none of them may
// make it too small for the others.
func (c *Client) Raised(ctx context.Context, s Spec) (Spec, error) {
	have, _, err := c.bus.CompareStream(ctx, s.bus())
	if err != nil || have == nil {
		return s, err
	}
	s.MaxBytes = raised(s.MaxBytes, have.Config.MaxBytes)
	s.MaxMsgs = raised(s.MaxMsgs, have.Config.MaxMsgs)
	s.MaxMsgSize = raised(s.MaxMsgSize, have.Config.MaxMsgSize)
	s.MaxMsgsPerSubject = raised(s.MaxMsgsPerSubject, have.Config.MaxMsgsPerSubject)
	s.Replicas = raised(s.Replicas, have.Config.Replicas)
	return s, nil
}

// raised returns the greater of two limits, of which the one that a stream has may be
// none.
func raised[N int | int32 | int64](want, have N) N {
	if have <= 0 {
		return 0
	}
	return max(want, have)
}

// Delete deletes the stream with all its messages.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	if err := c.bus.DeleteStream(ctx, s.Name); err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	return nil
}

func (s Spec) bus() bus.StreamSpec {
	return bus.StreamSpec{
		Stream: names.Stream{
			Name: s.Name, Subjects: s.Subjects, DiscardNew: s.Discard == "new",
			MaxBytes: s.MaxBytes, MaxMsgs: s.MaxMsgs, MaxMsgSize: s.MaxMsgSize, MaxPerSubject: s.MaxMsgsPerSubject,
			MaxAge: duration(s.MaxAge), Dedupe: duration(s.DuplicateWindow),
		},
		Replicas: s.Replicas, Placement: s.Placement.Bus(),
	}
}

func duration(d *external.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return time.Duration(*d)
}
