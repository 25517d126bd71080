package queue

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// A CancelOrder makes the holder of a request drop it.
type CancelOrder struct {
	Tenant string `json:"tenant"`
	Reason string `json:"reason,omitempty"` // for logs: "disconnected", "deadline"
}

// cancelTry limits the wait of one attempt for an answer.
const cancelTry = time.Second

// Cancel makes the runner that computes a request, or the dispatcher that queues
// it, drop it. It retries until one of them has answered or ctx ends. A request
// that has already ended is no error. Errors: Denied for a request of another
// tenant.
func (q *Queue) Cancel(ctx context.Context, ref Ref, reason string) error {
	subject := names.CancelSubject(ref.Session, ref.ID)
	for attempt := 0; ; attempt++ {
		try, cancel := context.WithTimeout(ctx, cancelTry)
		ack, err := bus.Call[Ack](try, q.bus, subject, CancelOrder{Tenant: ref.Tenant, Reason: reason})
		cancel()
		switch {
		case err == nil && ack.OK:
			return nil
		case err == nil:
			return fault.Errorf(fault.Denied, "cannot cancel request %q: %s", ref.ID, ack.Reason)
		}
		select {
		case <-ctx.Done():
			return fault.Errorf(bus.KindAtEnd(ctx, err), "cannot cancel request %q: %w", ref.ID, err)
		case <-time.After(bus.Backoff(attempt)):
		}
	}
}
