// Package token manages API tokens in the registry. The registry holds their
// hashes only: a generated token is returned once, as a connection.
package token

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// ConnectionKey is the key of a generated token in a connection.
const ConnectionKey = "token"

// A Spec describes a token, which is given by its hash or in a Secret, or else
// generated.
type Spec struct {
	SHA256             string             `json:"sha256,omitempty"` // lower-case hex
	Namespace          string             `json:"namespace,omitempty"`
	Disabled           bool               `json:"disabled,omitempty"`
	Expires            *time.Time         `json:"expires,omitempty"`
	Models             []string           `json:"models,omitempty"`
	RequestsPerMinute  int                `json:"requestsPerMinute,omitempty"`
	TokensPerMinute    int64              `json:"tokensPerMinute,omitempty"`
	ConcurrentRequests int                `json:"concurrentRequests,omitempty"`
	Tenant             string             `json:"tenant,omitempty"`
	Metadata           map[string]string  `json:"metadata,omitempty"`
	RotateAfter        *external.Duration `json:"rotateAfter,omitempty"` // nil: never
	Overlap            *external.Duration `json:"overlap,omitempty"`     // time that a replaced token stays valid
	Bucket             string             `json:"bucket,omitempty"`
	Prefix             string             `json:"prefix,omitempty"`
	// SecretRef names the Secret that holds the token or its hash.
	SecretRef *external.SecretRef `json:"secretRef,omitempty"`

	Owner string `json:"-"` // unique name of the resource
	// Secret holds the data of SecretRef. Nil: it does not exist, and its token is
	// revoked.
	Secret *Secret `json:"-"`
	// Stored is the generated token that the connection Secret holds.
	Stored string `json:"-"`
}

// A Status describes an observed token.
type Status struct {
	Key      string     `json:"key,omitempty"` // of the entry in the bucket
	Rotated  *time.Time `json:"rotated,omitempty"`
	Replaced int        `json:"replaced,omitempty"` // tokens before it that are still valid
}

// A Client manages the tokens of one NATS account. It remembers a generated
// token until Spec.Stored has it.
type Client struct {
	bus *bus.Bus

	mu      sync.Mutex
	pending map[Records]string // generated tokens, by the records that they are for
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New returns a Client.
func New(b *bus.Bus) *Client { return &Client{bus: b, pending: map[Records]string{}} }

// Observe compares the registry with the spec. A generated token is in the
// connection.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	if s.lost() {
		return c.observeLost(ctx, s)
	}
	secret := c.secret(s)
	want, err := s.want(secret)
	if err != nil {
		return external.Observation[Status]{}, err
	}
	mine, _, err := s.records().List(ctx, c.bus)
	if err != nil {
		return external.Observation[Status]{}, err
	}
	if len(mine) == 0 {
		return external.Observation[Status]{Message: "the registry has no entry"}, nil
	}
	now := time.Now()
	have, ok := mine[want.SHA256]
	o := external.Observation[Status]{Exists: true, Ready: ok, Message: "the entry is of another token"}
	o.UpToDate = ok && Same(have, want) && !s.due(have, now) && refuseGuessed(s.SHA256, "sha256") == nil
	if !ok {
		return o, nil
	}
	o.Message = ""
	o.Status.Key = s.records().key(want.SHA256)
	if s.generates() {
		o.Status.Rotated = &have.Created
		o.Connection = map[string][]byte{ConnectionKey: []byte(secret)}
	}
	delete(mine, want.SHA256)
	for _, old := range mine {
		if until := now.Add(s.overlap()); old.Expires.IsZero() || old.Expires.After(until) || !now.Before(old.Expires) {
			o.UpToDate = false
		}
		o.Status.Replaced++
	}
	return o, nil
}

// observeLost makes Update revoke a token whose Secret does not exist. Errors:
// NotFound once it is revoked.
func (c *Client) observeLost(ctx context.Context, s Spec) (external.Observation[Status], error) {
	mine, _, err := s.records().List(ctx, c.bus)
	switch {
	case err != nil:
		return external.Observation[Status]{}, err
	case len(mine) == 0:
		return external.Observation[Status]{}, s.lostError()
	}
	return external.Observation[Status]{Exists: true, Message: s.lostError().Error()}, nil
}

// Create writes the entry. It generates the token if none is given.
func (c *Client) Create(ctx context.Context, s Spec) error { return c.Update(ctx, s) }

// Update writes the entry. A token that replaces another one, by rotation or by a
// new spec, leaves it valid for the overlap. Update revokes a token whose Secret
// does not exist, and returns an error of kind NotFound.
func (c *Client) Update(ctx context.Context, s Spec) error {
	if s.lost() {
		if err := c.Delete(ctx, s); err != nil {
			return fmt.Errorf("cannot revoke token: %w", err)
		}
		return s.lostError()
	}
	if err := refuseGuessed(s.SHA256, "sha256"); err != nil {
		return fmt.Errorf("cannot keep token %q: %w", s.Owner, err)
	}
	mine, _, err := s.records().List(ctx, c.bus)
	if err != nil {
		return err
	}
	now := time.Now()
	secret := c.secret(s)
	if s.generates() {
		old, ok := mine[Digest(secret)]
		if secret == "" || !ok && len(mine) > 0 || ok && s.due(old, now) {
			secret = c.generate(s.records())
		}
	}
	want, err := s.want(secret)
	if err != nil {
		return err
	}
	want.Created = now
	if have, ok := mine[want.SHA256]; ok && !have.Created.IsZero() {
		want.Created = have.Created
	}
	if err := s.records().Write(ctx, c.bus, want); err != nil {
		return fmt.Errorf("cannot write token %q: %w", s.Owner, err)
	}
	delete(mine, want.SHA256)
	for _, old := range mine {
		if err := c.retire(ctx, s, old, now); err != nil {
			return err
		}
	}
	return nil
}

// retire makes a replaced token expire after the overlap.
func (c *Client) retire(ctx context.Context, s Spec, old registry.Token, now time.Time) error {
	until := now.Add(s.overlap())
	if s.overlap() == 0 || !old.Expires.IsZero() && !now.Before(old.Expires) {
		return s.records().Remove(ctx, c.bus, old.SHA256)
	}
	if !old.Expires.IsZero() && !old.Expires.After(until) && old.Disabled == s.Disabled {
		return nil
	}
	if old.Expires.IsZero() || old.Expires.After(until) {
		old.Expires = until
	}
	old.Disabled = s.Disabled
	return s.records().Write(ctx, c.bus, old)
}

// Delete deletes the entry and those of replaced tokens, which revokes them at
// once.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	mine, _, err := s.records().List(ctx, c.bus)
	if err != nil {
		return err
	}
	for hash := range mine {
		if err := s.records().Remove(ctx, c.bus, hash); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, s.records())
	return nil
}

// Watch calls changed when another client has changed an entry, when the rotation
// of the token is due, and when a replaced token has expired. It returns nil when
// ctx ends. changed is called from one goroutine at a time.
func (c *Client) Watch(ctx context.Context, s Spec, changed func()) error {
	var one sync.Mutex
	notify := func() {
		one.Lock()
		defer one.Unlock()
		changed()
	}
	var watch sync.WaitGroup
	defer watch.Wait()
	news := make(chan struct{}, 1)
	watch.Go(func() {
		s.records().Watch(ctx, c.bus, func() {
			select {
			case news <- struct{}{}:
			default:
			}
			notify()
		})
	})
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-news:
		case <-timer.C:
			if o, err := c.Observe(ctx, s); err == nil && !o.UpToDate {
				notify()
			}
		}
		timer.Reset(max(time.Until(c.next(ctx, s)), time.Second))
	}
}

// next returns when the next token expires or is due to be rotated.
func (c *Client) next(ctx context.Context, s Spec) time.Time {
	at := time.Now().Add(time.Hour)
	mine, _, err := s.records().List(ctx, c.bus)
	if err != nil {
		return time.Now().Add(time.Minute)
	}
	for _, t := range mine {
		if t.Expires.After(time.Now()) && t.Expires.Before(at) {
			at = t.Expires
		}
		if s.generates() && s.RotateAfter != nil {
			if due := t.Created.Add(time.Duration(*s.RotateAfter)); due.After(time.Now()) && due.Before(at) {
				at = due
			}
		}
	}
	return at
}

func (s Spec) generates() bool { return s.SHA256 == "" && s.SecretRef == nil && s.Secret == nil }

// lost reports whether the Secret that holds the token does not exist.
func (s Spec) lost() bool { return s.SecretRef != nil && s.Secret == nil }

func (s Spec) lostError() error {
	return fault.Errorf(fault.NotFound, "cannot keep token %q: Secret %q does not exist", s.Owner, s.SecretRef.Name)
}

func (s Spec) records() Records { return Records{Owner: s.Owner, Bucket: s.Bucket, Prefix: s.Prefix} }

func (s Spec) overlap() time.Duration {
	if s.Overlap == nil {
		return 0
	}
	return time.Duration(*s.Overlap)
}

// due reports whether a generated token has to be replaced.
func (s Spec) due(t registry.Token, now time.Time) bool {
	return s.generates() && s.RotateAfter != nil && *s.RotateAfter > 0 && now.Sub(t.Created) >= time.Duration(*s.RotateAfter)
}

// want returns the record of the spec. secret is the token if it is generated.
func (s Spec) want(secret string) (registry.Token, error) {
	t := registry.Token{Version: 1, SHA256: s.SHA256}
	switch {
	case s.Owner == "":
		return t, fault.Errorf(fault.Internal, "cannot keep a token without an owner")
	case s.SHA256 != "" && s.Secret != nil:
		return t, fault.Errorf(fault.Invalid, "cannot keep token %q: give either its hash or a Secret", s.Owner)
	case s.Secret != nil:
		var err error
		if t, err = Parse(*s.Secret); err != nil {
			return t, fmt.Errorf("cannot use Secret %q: %w", s.Secret.Name, err)
		}
	case s.SHA256 == "":
		t.SHA256 = Digest(secret)
	}
	t.Disabled = t.Disabled || s.Disabled
	t.Namespace, t.Tenant = s.Namespace, s.Tenant
	if s.Expires != nil {
		t.Expires = s.Expires.UTC()
	}
	if len(s.Models) > 0 {
		t.Models = s.Models
	}
	t.Limits = registry.Limits{RequestsPerMinute: s.RequestsPerMinute, TokensPerMinute: s.TokensPerMinute, ConcurrentRequests: s.ConcurrentRequests}.Or(t.Limits)
	if len(s.Metadata) > 0 {
		t.Metadata = s.Metadata
	}
	return t, nil
}

// secret returns the newest generated token, empty if there is none.
func (c *Client) secret(s Spec) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[s.records()] == s.Stored {
		delete(c.pending, s.records())
	}
	return cmp.Or(c.pending[s.records()], s.Stored)
}

// generate returns a token of at least 128 random bits.
func (c *Client) generate(records Records) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[records] = "koldun-" + rand.Text()
	return c.pending[records]
}
