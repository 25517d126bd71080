// Package natsaccount manages the accounts of namespaces on NATS servers in operator
// mode.
package natsaccount

import (
	"context"
	"fmt"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// A Spec describes the account of a namespace. Zero numbers mean no limit.
type Spec struct {
	Namespace    string             `json:"namespace"`
	Connections  int64              `json:"connections,omitempty"`
	DiskBytes    int64              `json:"diskBytes,omitempty"`
	Streams      int64              `json:"streams,omitempty"`
	RevokeBefore *time.Time         `json:"revokeBefore,omitempty"`
	Overlap      *external.Duration `json:"overlap,omitempty"`
	Purge        bool               `json:"purge,omitempty"`
}

// A Status is the observed state of an account.
type Status struct {
	Account       string     `json:"account,omitempty"`
	Disabled      bool       `json:"disabled,omitempty"`
	RevokedBefore *time.Time `json:"revokedBefore,omitempty"`
}

// A Client manages the accounts of one system of servers.
type Client struct{ accounts *natsauth.Accounts }

var (
	_ external.Client[Spec, Status] = Client{}
	_ external.Viewer[Spec]         = Client{}
	_ external.Watcher[Spec]        = Client{}
)

// New returns a Client.
func New(accounts *natsauth.Accounts) Client { return Client{accounts} }

func (s Spec) limits() natsauth.Limits {
	return natsauth.Limits{Connections: s.Connections, DiskBytes: s.DiskBytes, Streams: s.Streams}
}

// Observe compares the account with the spec.
func (c Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	have, err := c.accounts.State(ctx, s.Namespace)
	if fault.Is(err, fault.NotFound) {
		return external.Observation[Status]{Message: "the account does not exist"}, nil
	}
	if err != nil {
		return external.Observation[Status]{}, err
	}
	o := external.Observation[Status]{
		Exists: true, Ready: !have.Disabled, Status: Status{Account: have.ID, Disabled: have.Disabled},
		UpToDate: have.Own && have.Current && !have.Disabled && have.Limits == s.limits() && !s.revokes(have, time.Now()),
	}
	if at := have.Refused(""); !at.IsZero() {
		o.Status.RevokedBefore = &at
	}
	switch cut := have.Cutoff; {
	case have.Disabled:
		o.Message = "the account is disabled"
	case time.Now().Before(cut.From):
		o.Message = fmt.Sprintf("credentials made until %s are being replaced, and are refused from %s on", stamp(cut.Before), stamp(cut.From))
	}
	return o, nil
}

// revokes reports whether credentials are to be revoked that the account accepts.
func (s Spec) revokes(have natsauth.State, now time.Time) bool {
	return have.Due(now) || s.RevokeBefore != nil && s.RevokeBefore.Unix() > max(have.Cutoff.Before.Unix(), have.Refused("").Unix())
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// View returns the limits of the account as they are.
func (c Client) View(ctx context.Context, s Spec, _ external.Scope) (Spec, error) {
	have, err := c.accounts.State(ctx, s.Namespace)
	l := have.Limits
	s.Connections, s.DiskBytes, s.Streams = l.Connections, l.DiskBytes, l.Streams
	return s, err
}

// Create makes the account, or adopts the one that the namespace has.
func (c Client) Create(ctx context.Context, s Spec) error { return c.Update(ctx, s) }

// Update changes the limits, and revokes credentials. Connections beyond them end.
func (c Client) Update(ctx context.Context, s Spec) error {
	if err := c.accounts.Set(ctx, s.Namespace, s.limits(), true); err != nil {
		return err
	}
	have, err := c.accounts.State(ctx, s.Namespace)
	if err != nil || !s.revokes(have, time.Now()) {
		return err
	}
	before := time.Time{} // what is due
	if s.RevokeBefore != nil {
		before = *s.RevokeBefore
	}
	return c.accounts.RevokeBefore(ctx, s.Namespace, before, natsauth.Overlap(s.Overlap))
}

// Watch calls changed when credentials are to be refused.
func (c Client) Watch(ctx context.Context, s Spec, changed func()) error {
	if s.RevokeBefore == nil {
		<-ctx.Done()
		return nil
	}
	return external.After(ctx, natsauth.Overlap(s.Overlap)+time.Second, changed)
}

// Delete disables the account, and removes it from all servers.
func (c Client) Delete(ctx context.Context, s Spec) error {
	return c.accounts.Remove(ctx, s.Namespace, s.Purge)
}
