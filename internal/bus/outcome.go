package bus

import (
	"context"
	"encoding/json"

	"github.com/gorizond/koldun/internal/fault"
)

// PublishOutcome stores the terminal record of a request, trying until it is
// stored or ctx ends. It follows the tries with the sequence after, or nothing
// if that is 0. A request gets one outcome, ever: if another has recorded
// something meanwhile, that stays and the error is of kind Conflict.
func (b *Bus) PublishOutcome(ctx context.Context, o Outcome, after uint64) error {
	data, err := json.Marshal(o)
	if err != nil {
		return fault.Errorf(fault.Internal, "cannot encode the outcome of request %q: %w", o.Request, err)
	}
	_, err = b.storeRecord(ctx, Ref{ID: o.Request, Session: o.Session, Tenant: o.Tenant}, data, after)
	return err
}

// Outcome reads the terminal record of a request. Errors: NotFound if it has
// not ended, or so long ago that the record is gone; Transient if there is no
// answer within apiTimeout.
func (b *Bus) Outcome(ctx context.Context, ref Ref) (Outcome, error) {
	var o Outcome
	msg, err := b.lastRecord(ctx, ref)
	if err != nil {
		return o, err
	}
	if err := json.Unmarshal(msg.Data, &o); err != nil {
		return o, fault.Errorf(fault.Corrupt, "cannot decode the outcome of request %q: %w", ref.ID, err)
	}
	if o.State == "" {
		return Outcome{}, fault.Errorf(fault.NotFound, "cannot read the outcome of request %q: it has not ended", ref.ID)
	}
	return o, nil
}
