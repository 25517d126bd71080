package queue_test

import (
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

func TestOfferOutcome(t *testing.T) {
	b := connect(t, natstest.Start(t))
	ctx := testContext(t)
	o := queue.Outcome{Request: "req_1", Session: "s", Tenant: "t", State: queue.Completed}
	offer := func(o queue.Outcome, after uint64) error {
		t.Helper()
		stored := make(chan error, 1)
		if err := b.OfferOutcome(o, after, time.Minute, func(err error) { stored <- err }); err != nil {
			return err
		}
		return waittest.Receive(t, "the result is told", stored)
	}
	if err := offer(o, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Outcome(ctx, queue.Ref{ID: o.Request, Session: o.Session, Tenant: o.Tenant}); err != nil || got.State != queue.Completed {
		t.Errorf("outcome = %+v, %v", got, err)
	}
	o.State = queue.Failed
	if err := offer(o, 0); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second outcome: %v, want Conflict", err)
	}
	if err := b.Manager().DeleteStream(ctx, names.OutcomeStream); err != nil {
		t.Fatal(err)
	}
	if err := offer(o, 0); err == nil {
		t.Error("an outcome was stored without a stream")
	}
}
