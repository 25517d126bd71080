// Package keyvalue manages JetStream key-value buckets.
package keyvalue

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// callWithin is the time limit of one change: the reconciler retries it.
const callWithin = 15 * time.Second

// A Spec describes a key-value bucket. Absent and zero mean no limit
// unless a field states otherwise.
type Spec struct {
	Bucket string `json:"bucket"`
	// LimitMarkerTTL lets keys have their own TTL, and watchers see them expire.
	LimitMarkerTTL *external.Duration `json:"limitMarkerTTL,omitempty"`
	TTL            *external.Duration `json:"ttl,omitempty"`     // of every key
	History        int                `json:"history,omitempty"` // values kept per key; 0: unchanged, 1 for a new bucket
	MaxBytes       int64              `json:"maxBytes,omitempty"`
	MaxValueSize   int32              `json:"maxValueSize,omitempty"` // bytes
	Replicas       int                `json:"replicas,omitempty"`     // 0: unchanged, 1 for a new bucket
	Placement      *stream.Placement  `json:"placement,omitempty"`    // absent: unchanged

	Owner external.Owner `json:"-"`
	// raised says that the spec lowers neither the size nor the replicas of the bucket.
	raised bool
}

func (s Spec) what() string { return fmt.Sprintf("key-value bucket %q", s.Bucket) }

// may returns why the spec must not be applied to a bucket with this metadata. Anybody may
// apply what all installations of Koldun want of its own buckets.
func (s Spec) may(metadata map[string]string) error {
	if !s.Owner.Deleting && s.usual() {
		return nil
	}
	return s.Owner.Check(s.what(), metadata[external.OwnerKey])
}

// usual reports whether the spec is the default of one of Koldun's own buckets, or such
// a one with a size and replicas that are not lower than those of the bucket.
func (s Spec) usual() bool {
	b, ok := bus.Bucket(s.Bucket)
	var markers time.Duration
	if s.LimitMarkerTTL != nil {
		markers = time.Duration(*s.LimitMarkerTTL)
	}
	want := Spec{Bucket: s.Bucket, LimitMarkerTTL: s.LimitMarkerTTL, Owner: s.Owner, raised: s.raised}
	if s.raised {
		want.MaxBytes, want.Replicas = s.MaxBytes, s.Replicas
	}
	return ok && b.Markers == markers && reflect.DeepEqual(s, want)
}

// A Status is the observed state of a bucket.
type Status struct {
	Account    string     `json:"account,omitempty"`
	Ports      []int32    `json:"ports,omitempty"`
	Configured bool       `json:"configured,omitempty"`
	Created    *time.Time `json:"created,omitempty"`
	History    int        `json:"history,omitempty"`
	Replicas   int        `json:"replicas,omitempty"`
}

// A Client manages the buckets of one NATS account.
type Client struct {
	bus        *bus.Bus
	connection map[string][]byte
	account    string
	ports      []int32
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New returns a Client that returns the connection with each bucket.
func New(b *bus.Bus, connection map[string][]byte) *Client {
	return &Client{bus: b, connection: connection}
}

// Of adds the public key of the account, and the ports that clients of the servers
// connect to, to the status of each bucket.
func (c *Client) Of(account string, ports []int32) *Client {
	c.account, c.ports = account, ports
	return c
}

// Observe reports whether the bucket matches the spec.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	have, same, err := c.bus.Manager().CompareKV(ctx, s.bus())
	if err != nil || have == nil {
		return external.Observation[Status]{Message: "the bucket does not exist"}, err
	}
	if err := s.may(have.Config.Metadata); err != nil {
		if s.Owner.Deleting {
			return external.Observation[Status]{Message: err.Error()}, nil // it stays
		}
		if !same {
			return external.Observation[Status]{}, fmt.Errorf("cannot change %s: %w", s.what(), err)
		}
	}
	created := have.Created.UTC().Truncate(time.Second)
	o := external.Observation[Status]{Exists: true, UpToDate: same, Ready: true, Connection: c.connection, Status: Status{
		Account: c.account, Ports: c.ports, Configured: same, Created: &created, History: int(have.Config.MaxMsgsPerSubject), Replicas: have.Config.Replicas,
	}}
	if !same {
		o.Message = "its configuration differs"
	}
	return o, nil
}

// Create creates the bucket, or adopts an existing one.
func (c *Client) Create(ctx context.Context, s Spec) error {
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	return c.bus.EnsureKV(ctx, s.bus())
}

// Update changes the bucket in place.
func (c *Client) Update(ctx context.Context, s Spec) error { return c.Create(ctx, s) }

// Raised returns the spec with the size and replicas of the existing bucket if those are
// greater, or none: several queues share a bucket, and none of them may make it too small
// for the others or take a copy away. What the spec leaves out is unchanged.
func (c *Client) Raised(ctx context.Context, s Spec) (Spec, error) {
	if s.MaxBytes == 0 && s.Replicas == 0 {
		return s, nil
	}
	have, _, err := c.bus.Manager().CompareKV(ctx, s.bus())
	if err != nil || have == nil {
		return s, err
	}
	if s.MaxBytes > 0 {
		s.MaxBytes = stream.RaisedLimit(s.MaxBytes, have.Config.MaxBytes)
	}
	if s.Replicas > 0 {
		s.Replicas = max(s.Replicas, have.Config.Replicas)
	}
	s.raised = true
	return s, nil
}

// Delete deletes the bucket with all its keys.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	have, _, err := c.bus.Manager().CompareKV(ctx, s.bus())
	if err != nil || have == nil {
		return err
	}
	if err := s.Owner.Check(s.what(), have.Config.Metadata[external.OwnerKey]); err != nil {
		return fmt.Errorf("cannot delete %s: %w", s.what(), err)
	}
	if err := c.bus.Manager().DeleteKV(ctx, s.Bucket); err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	return nil
}

func (s Spec) bus() bus.KVSpec {
	own := bus.Ownership{Metadata: s.Owner.Metadata(), May: s.may}
	if _, ok := bus.Bucket(s.Bucket); ok {
		own.Metadata = nil // several namespaces may share it
	}
	spec := bus.KVSpec{
		Ownership: own,
		Bucket:    names.Bucket{Name: s.Bucket}, History: s.History, MaxBytes: s.MaxBytes, MaxValueSize: s.MaxValueSize,
		Replicas: s.Replicas, Placement: s.Placement.Bus(),
	}
	if s.LimitMarkerTTL != nil {
		spec.Markers = time.Duration(*s.LimitMarkerTTL)
	}
	if s.TTL != nil {
		spec.TTL = time.Duration(*s.TTL)
	}
	return spec
}
