package natsaccount_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/natsaccount"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

func TestLifeOfAnAccount(t *testing.T) {
	ctx := t.Context()
	s := natstest.StartOperator(t)
	accounts := s.Accounts()
	c := natsaccount.New(accounts)
	spec := natsaccount.Spec{Namespace: "team", Connections: 20, Purge: true}
	observe := func() external.Observation[natsaccount.Status] {
		t.Helper()
		o, err := c.Observe(ctx, spec)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if o := observe(); o.Exists || o.Ready || o.Message == "" {
		t.Errorf("Observe of nothing: %+v", o)
	}
	// The account that a first connection of the namespace has made is adopted.
	if err := accounts.Ensure(ctx, "team", natsauth.Limits{}); err != nil {
		t.Fatal(err)
	}
	if o := observe(); !o.Exists || o.UpToDate {
		t.Errorf("Observe of an account with the usual limits: %+v", o)
	}
	for range 2 { // may be repeated
		if err := c.Create(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	if o := observe(); !o.Exists || !o.UpToDate || !o.Ready || o.Status.Account == "" || o.Status.Disabled {
		t.Errorf("Observe after Create: %+v", o)
	}
	spec.Connections, spec.Streams = 30, 12
	if o := observe(); o.UpToDate {
		t.Errorf("Observe after a change: %+v", o)
	}
	if err := c.Update(ctx, spec); err != nil {
		t.Fatal(err)
	}
	seen, err := c.View(ctx, natsaccount.Spec{Namespace: "team"}, external.AllFields)
	if err != nil || seen.Connections != 30 || seen.Streams != 12 || seen.DiskBytes != 0 {
		t.Errorf("View: %+v, %v", seen, err)
	}
	for range 2 { // no account is no error
		if err := c.Delete(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	if o := observe(); o.Exists {
		t.Errorf("Observe after Delete: %+v", o)
	}
}
