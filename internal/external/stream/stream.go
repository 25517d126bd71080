// Package stream manages JetStream streams.
package stream

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
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

	Owner external.Owner `json:"-"`
	// raised says that the spec lowers no limit of the stream and changes nothing else, so
	// that anybody may apply it.
	raised bool
}

func (s Spec) what() string { return fmt.Sprintf("stream %q", s.Name) }

// may returns why the spec must not be applied to a stream with this metadata.
func (s Spec) may(metadata map[string]string) error {
	if s.raised && !s.Owner.Deleting {
		return nil
	}
	return s.Owner.Check(s.what(), metadata[external.OwnerKey])
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
	have, same, err := c.bus.Manager().CompareStream(ctx, s.bus())
	if err != nil || have == nil {
		return external.Observation[Status]{Message: "the stream does not exist"}, err
	}
	if err := s.may(have.Config.Metadata); err != nil {
		if s.Owner.Deleting {
			return external.Observation[Status]{Message: err.Error()}, nil // it stays
		}
		if !same {
			return external.Observation[Status]{}, fmt.Errorf("cannot change %s: %w", s.what(), err)
		}
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
// make it too small for the others. Who does not own the stream may raise its size and
// replicas, and leaves all else as it is.
func (c *Client) Raised(ctx context.Context, s Spec) (Spec, error) {
	have, _, err := c.bus.Manager().CompareStream(ctx, s.bus())
	if err != nil || have == nil {
		return s, err
	}
	s.MaxBytes = RaisedLimit(s.MaxBytes, have.Config.MaxBytes)
	s.MaxMsgs = RaisedLimit(s.MaxMsgs, have.Config.MaxMsgs)
	s.MaxMsgSize = RaisedLimit(s.MaxMsgSize, have.Config.MaxMsgSize)
	s.MaxMsgsPerSubject = RaisedLimit(s.MaxMsgsPerSubject, have.Config.MaxMsgsPerSubject)
	s.Replicas = RaisedLimit(s.Replicas, have.Config.Replicas)
	if s.Owner.Check(s.what(), have.Config.Metadata[external.OwnerKey]) != nil {
		s.keep(have.Config)
	}
	return s, nil
}

// keep takes over what only the owner of a stream may change. Koldun's own streams have
// the subjects, order and ages of this release.
func (s *Spec) keep(have jetstream.StreamConfig) {
	s.raised = true
	s.MaxMsgs, s.MaxMsgSize, s.MaxMsgsPerSubject = have.MaxMsgs, have.MaxMsgSize, have.MaxMsgsPerSubject
	s.Placement, s.Subjects = nil, have.Subjects
	discardNew, maxAge, window := have.Discard == jetstream.DiscardNew, have.MaxAge, have.Duplicates
	if usual, ok := koldun(s.Name); ok {
		s.Subjects, discardNew, maxAge, window = usual.Subjects, usual.DiscardNew, usual.MaxAge, cmp.Or(usual.Dedupe, defaultWindow)
	}
	s.MaxAge, s.DuplicateWindow = (*external.Duration)(&maxAge), (*external.Duration)(&window)
	if s.Discard = "old"; discardNew {
		s.Discard = "new"
	}
}

// koldun returns one of Koldun's own streams. They have no owner, because the gateways
// and dispatchers of several namespaces may share them.
func koldun(name string) (names.Stream, bool) {
	all := names.Streams()
	i := slices.IndexFunc(all, func(s names.Stream) bool { return s.Name == name })
	if i < 0 {
		return names.Stream{}, false
	}
	return all[i], true
}

// RaisedLimit returns the greater of two limits, of which the one that a stream has may be
// none.
func RaisedLimit[N int | int32 | int64](want, have N) N {
	if have <= 0 {
		return 0
	}
	return max(want, have)
}

// Delete deletes the stream with all its messages.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	have, _, err := c.bus.Manager().CompareStream(ctx, s.bus())
	if err != nil || have == nil {
		return err
	}
	if err := s.Owner.Check(s.what(), have.Config.Metadata[external.OwnerKey]); err != nil {
		return fmt.Errorf("cannot delete %s: %w", s.what(), err)
	}
	if err := c.bus.Manager().DeleteStream(ctx, s.Name); err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	return nil
}

func (s Spec) bus() bus.StreamSpec {
	own := bus.Ownership{Metadata: s.Owner.Metadata(), May: s.may}
	if _, ok := koldun(s.Name); ok {
		own.Metadata = nil
	}
	return bus.StreamSpec{
		Ownership: own,
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
