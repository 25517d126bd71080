package natsaccount_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/natsaccount"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/test/waittest"
)

// TestRevokeBefore asks for all credentials of an account to be made anew, and refuses the
// earlier ones when the overlap is over. A change of limits in between keeps both.
func TestRevokeBefore(t *testing.T) {
	ctx := waittest.Context(t)
	s := natstest.StartOperator(t)
	c := natsaccount.New(s.Accounts())
	overlap := external.Duration(2 * time.Second)
	spec := natsaccount.Spec{Namespace: "team", Overlap: &overlap}
	observe := func() external.Observation[natsaccount.Status] {
		t.Helper()
		o, err := c.Observe(ctx, spec)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	update := func() {
		t.Helper()
		if err := c.Update(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	update()
	before := time.Now().Truncate(time.Second)
	spec.RevokeBefore = &before
	if o := observe(); o.UpToDate {
		t.Fatalf("Observe before the revocation: %+v", o)
	}
	update()
	spec.Connections = 5
	update()
	if o := observe(); !o.UpToDate || !o.Ready || !strings.Contains(o.Message, "are refused from") || !o.Status.RevokedBefore.Before(before) {
		t.Fatalf("Observe in the overlap: %+v, %v", o, o.Status.RevokedBefore)
	}
	if at, err := s.Accounts().Cutoff(ctx, "team"); err != nil || !at.Equal(before) {
		t.Errorf("makers of credentials see %v (%v), want %v", at, err, before)
	}
	waittest.Until(t, "the end of the overlap", func() bool { return !observe().UpToDate })
	spec.RevokeBefore = nil // what has begun is ended
	update()
	if o := observe(); !o.UpToDate || o.Message != "" || !o.Status.RevokedBefore.Equal(before) {
		t.Errorf("Observe after the revocation: %+v, %v", o, o.Status.RevokedBefore)
	}
}
