package dispatch

import (
	"context"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// fence stores the attempts of a request with the epoch of t, which fences earlier
// leaders. Errors: Conflict if the request has ended; Interrupted.
func (r records) fence(ctx context.Context, ref queue.Ref, t queue.Attempts) (queue.Attempts, error) {
	for epoch := t.Epoch; ; t.Epoch = epoch {
		if !r.leads() {
			return t, errNotLeading
		}
		seq, err := r.requests.PublishAttempts(ctx, ref, t)
		if err == nil {
			t.Sequence = seq
			return t, nil
		}
		if fault.Is(err, fault.Conflict) {
			before := t.Sequence
			t, err = r.requests.LastAttempts(ctx, ref)
			switch {
			case fault.Is(err, fault.Conflict):
				return t, err
			case err == nil && t.Epoch > epoch:
				return t, errNotLeading
			case err == nil && t.Sequence > before:
				continue
			}
		}
		r.log.Debug("cannot fence a request yet", "request", ref.ID, "error", err)
		if err := pause(ctx); err != nil {
			return t, err
		}
	}
}
