package dispatch

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// records stores what a leader decides about requests. Each operation retries until the term
// ends, and then stores nothing, even if the process was suspended: the next leader has
// fenced the request. Any goroutine may use it.
type records struct{ *term }

// storeAttempts stores the attempts of a request, and retries until the leadership ends.
func (r records) storeAttempts(ctx context.Context, ref queue.Ref, t queue.Attempts) (uint64, error) {
	for {
		if !r.leads() {
			return 0, errNotLeading
		}
		seq, err := r.requests.PublishAttempts(ctx, ref, t)
		if err == nil || fault.Is(err, fault.Conflict) || ctx.Err() != nil {
			return seq, err
		}
		r.log.Warn("cannot note a failed attempt yet", "request", ref.ID, "error", err)
		if err := pause(ctx); err != nil {
			return 0, err
		}
	}
}

// record stores an outcome after the attempts that this leader has stored. It
// retries until the leadership ends, because a request without an outcome has not ended.
// A leader whose leadership has ended stores nothing, even if its process was suspended,
// because the next leader has fenced the request. Errors: Conflict if the request
// has another outcome.
func (r records) record(ctx context.Context, o queue.Outcome, after, epoch uint64) error {
	ref := queue.Ref{ID: o.Request, Session: o.Session, Tenant: o.Tenant}
	for {
		until := *r.until.Load()
		if !lasts(until, time.Now()) {
			return errNotLeading
		}
		try, cancel := context.WithDeadline(ctx, until)
		err := r.requests.PublishOutcome(try, o, after)
		if fault.Is(err, fault.Conflict) {
			var t queue.Attempts
			t, err = r.requests.LastAttempts(try, ref)
			switch {
			case err == nil && t.Epoch > epoch:
				err = errNotLeading
			case err == nil: // of an earlier leader, or from a lagging replica
				after = t.Sequence
				err = fault.Errorf(fault.Transient, "an earlier leader has recorded something meanwhile")
			}
		}
		cancel()
		if !fault.Is(err, fault.Transient) && !fault.Is(err, fault.Quota) || ctx.Err() != nil {
			return err
		}
		r.log.Warn("cannot record an outcome yet", "request", o.Request, "error", err)
		if err := pause(ctx); err != nil {
			return err
		}
	}
}
