package dispatch

import (
	"context"
	"encoding/json"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// storeDeadLetter stores the dead letter of a request, and reports whether it is
// stored. The request ends in either case.
func (r records) storeDeadLetter(ctx context.Context, raw []byte, o queue.Outcome) bool {
	if !r.leads() {
		return false
	}
	var req queue.Request
	if err := json.Unmarshal(raw, &req); err != nil { // decoded before, so it cannot fail
		r.log.Error("cannot store a dead letter", "request", o.Request, "error", err)
		return false
	}
	d := queue.DeadLetter{Request: req, Reasons: o.Reasons, Attempts: o.Attempts, Failed: o.Ended}
	if err := r.requests.PublishDeadLetter(ctx, d); err != nil {
		r.log.Error("cannot store a dead letter", "request", req.ID, "error", err)
		return false
	}
	r.metrics.dead.Inc()
	return true
}

// deleteDeadLetter deletes a dead letter whose request has another outcome.
func (r records) deleteDeadLetter(ctx context.Context, ref queue.Ref) {
	if other, err := r.requests.Outcome(ctx, ref); err != nil || other.Dead {
		return
	}
	_, seq, err := r.requests.DeadLetter(ctx, ref.ID)
	if err == nil {
		err = r.requests.DeleteDeadLetter(ctx, seq)
	}
	if err != nil {
		r.log.Warn("cannot delete a dead letter", "request", ref.ID, "error", err)
	}
}
