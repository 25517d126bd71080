// Package tokenset mirrors the hashes of the API tokens in a set of Secrets into
// the registry.
package tokenset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// maxRejected limits the reported Secrets without a usable token.
const maxRejected = 32

// A Spec describes a set.
type Spec struct {
	Namespace string `json:"namespace,omitempty"` // that the tokens come from
	Bucket    string `json:"bucket,omitempty"`    // empty: the default bucket
	Prefix    string `json:"prefix,omitempty"`    // of keys; empty: "token/"

	Owner   string         `json:"-"` // unique name of the resource
	Secrets []token.Secret `json:"-"` // all current Secrets
	// Ending means that the set is being deleted: it exists only while it has
	// entries.
	Ending bool `json:"-"`
}

// A Rejected is a Secret without a usable token.
type Rejected struct {
	Secret string `json:"secret"`
	Reason string `json:"reason"`
}

// A Status is the result of mirroring.
type Status struct {
	Tokens   int        `json:"tokens,omitempty"` // number of valid tokens
	Disabled int        `json:"disabled,omitempty"`
	Rejected []Rejected `json:"rejected,omitempty"`
}

// A Client manages the sets of one NATS account.
type Client struct{ bus *bus.Bus }

var _ external.Client[Spec, Status] = (*Client)(nil)

// New returns a Client.
func New(b *bus.Bus) *Client { return &Client{bus: b} }

// Observe compares the registry with the Secrets.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	p, err := c.plan(ctx, s)
	if err != nil {
		return external.Observation[Status]{}, err
	}
	return external.Observation[Status]{
		Exists:   !s.Ending || len(p.mine) > 0,
		UpToDate: len(p.write)+len(p.remove) == 0,
		Ready:    true,
		Status:   p.status,
	}, nil
}

// Create mirrors the Secrets.
func (c *Client) Create(ctx context.Context, s Spec) error { return c.Update(ctx, s) }

// Update revokes the tokens whose Secrets no longer exist, including those of
// earlier processes, and then writes missing and changed ones. A failed write
// does not prevent the others.
func (c *Client) Update(ctx context.Context, s Spec) error {
	p, err := c.plan(ctx, s)
	if err != nil {
		return err
	}
	var errs []error
	for _, hash := range p.remove {
		errs = append(errs, s.records().Remove(ctx, c.bus, hash))
	}
	for _, t := range p.write {
		err := s.records().Write(ctx, c.bus, t)
		if fault.Is(err, fault.Conflict) {
			continue // the next Observe rejects it
		}
		errs = append(errs, err)
	}
	return joined(s, errs)
}

// Delete revokes all tokens of the set.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	mine, _, err := s.records().List(ctx, c.bus)
	if err != nil {
		return err
	}
	var errs []error
	for hash := range mine {
		errs = append(errs, s.records().Remove(ctx, c.bus, hash))
	}
	return joined(s, errs)
}

// Watch calls changed when others change the entries of the set, until ctx ends;
// it then returns nil. It does not watch Secrets.
func (c *Client) Watch(ctx context.Context, s Spec, changed func()) error {
	s.records().Watch(ctx, c.bus, changed)
	return nil
}

// A plan is a list of changes to the registry.
type plan struct {
	mine   map[string]registry.Token // by hash
	write  []registry.Token
	remove []string // hashes
	status Status
}

func (c *Client) plan(ctx context.Context, s Spec) (plan, error) {
	if s.Owner == "" {
		return plan{}, fault.Errorf(fault.Internal, "cannot keep a set of tokens without an owner")
	}
	mine, others, err := s.records().List(ctx, c.bus)
	if err != nil {
		return plan{}, err
	}
	p := plan{mine: mine}
	want, from := p.read(s, others)
	for hash, t := range want {
		if t.Disabled {
			p.status.Disabled++
		} else {
			p.status.Tokens++
		}
		if have, ok := mine[hash]; !ok || !token.Same(have, t) {
			p.write = append(p.write, t)
		}
	}
	for hash := range mine {
		if _, ok := from[hash]; !ok {
			p.remove = append(p.remove, hash)
		}
	}
	sort.Strings(p.remove)
	slices.SortFunc(p.write, func(a, b registry.Token) int { return cmp.Compare(a.SHA256, b.SHA256) })
	return p, nil
}

// read reads the Secrets, and rejects those without a token of their own.
func (p *plan) read(s Spec, others map[string]string) (want map[string]registry.Token, from map[string]string) {
	want, from = map[string]registry.Token{}, map[string]string{}
	secrets := slices.SortedFunc(slices.Values(s.Secrets), func(a, b token.Secret) int { return cmp.Compare(a.Name, b.Name) })
	for _, secret := range secrets {
		t, err := token.Parse(secret)
		switch first, keeper := from[t.SHA256], others[t.SHA256]; {
		case err != nil:
			p.reject(secret.Name, err.Error())
		case first != "":
			p.reject(secret.Name, fmt.Sprintf("it holds the same token as Secret %q", first))
		case keeper != "":
			p.reject(secret.Name, "the same token is kept by "+keeper+" already")
		default:
			t.Namespace = s.Namespace
			want[t.SHA256], from[t.SHA256] = t, secret.Name
		}
	}
	return want, from
}

func (p *plan) reject(secret, reason string) {
	if len(p.status.Rejected) < maxRejected {
		p.status.Rejected = append(p.status.Rejected, Rejected{Secret: secret, Reason: reason})
	}
}

func (s Spec) records() token.Records {
	return token.Records{Owner: s.Owner, Bucket: s.Bucket, Prefix: s.Prefix}
}

func joined(s Spec, errs []error) error {
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("cannot mirror the tokens of %s: %w", s.Owner, err)
	}
	return nil
}
