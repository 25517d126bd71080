// Package natsaccount manages the accounts of namespaces on NATS servers in operator
// mode.
package natsaccount

import (
	"context"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/natsauth"
)

// A Spec describes the account of a namespace. Zero numbers mean no limit.
type Spec struct {
	Namespace   string `json:"namespace"`
	Connections int64  `json:"connections,omitempty"`
	DiskBytes   int64  `json:"diskBytes,omitempty"`
	Streams     int64  `json:"streams,omitempty"`
	Purge       bool   `json:"purge,omitempty"`
}

// A Status is the observed state of an account.
type Status struct {
	Account  string `json:"account,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
}

// A Client manages the accounts of one system of servers.
type Client struct{ accounts *natsauth.Accounts }

var (
	_ external.Client[Spec, Status] = Client{}
	_ external.Viewer[Spec]         = Client{}
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
		UpToDate: have.Own && have.Current && !have.Disabled && have.Limits == s.limits(),
	}
	if have.Disabled {
		o.Message = "the account is disabled"
	}
	return o, nil
}

// View returns the limits of the account as they are.
func (c Client) View(ctx context.Context, s Spec, _ external.Scope) (Spec, error) {
	have, err := c.accounts.State(ctx, s.Namespace)
	l := have.Limits
	s.Connections, s.DiskBytes, s.Streams = l.Connections, l.DiskBytes, l.Streams
	return s, err
}

// Create makes the account, or adopts the one that the namespace has.
func (c Client) Create(ctx context.Context, s Spec) error { return c.Update(ctx, s) }

// Update changes the limits. Connections beyond them end.
func (c Client) Update(ctx context.Context, s Spec) error {
	return c.accounts.Set(ctx, s.Namespace, s.limits(), true)
}

// Delete disables the account, and removes it from all servers.
func (c Client) Delete(ctx context.Context, s Spec) error {
	return c.accounts.Remove(ctx, s.Namespace, s.Purge)
}
