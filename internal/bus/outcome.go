package bus

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// PublishOutcome stores the terminal record of a request, trying until it is
// stored or ctx ends. A request gets one record, ever: if it has one already,
// that one stays and the error is of kind Conflict.
func (b *Bus) PublishOutcome(ctx context.Context, o Outcome) error {
	data, err := json.Marshal(o)
	if err != nil {
		return fault.Errorf(fault.Internal, "cannot encode the outcome of request %q: %w", o.Request, err)
	}
	subject := names.OutcomeOf(o.Session, o.Tenant, o.Request)
	_, err = b.store(ctx, names.OutcomeStream, func() *nats.Msg { return &nats.Msg{Subject: subject, Data: data} },
		jetstream.WithExpectLastSequencePerSubject(0))
	if fault.Is(err, fault.Conflict) && b.isRecorded(ctx, o, data) {
		return nil // by a try of ours whose confirmation got lost
	}
	if err != nil {
		return fault.Errorf(fault.KindOf(err), "cannot record the outcome of request %q: %w", o.Request, err)
	}
	return nil
}

// isRecorded reports whether the record of a request is this very one.
func (b *Bus) isRecorded(ctx context.Context, o Outcome, data []byte) bool {
	have, err := b.Outcome(ctx, Ref{ID: o.Request, Session: o.Session, Tenant: o.Tenant})
	if err != nil {
		return false
	}
	encoded, err := json.Marshal(have)
	return err == nil && bytes.Equal(encoded, data)
}

// Outcome reads the terminal record of a request. Errors: NotFound if it has
// not ended, or so long ago that the record is gone; Transient if there is no
// answer within apiTimeout.
func (b *Bus) Outcome(ctx context.Context, ref Ref) (Outcome, error) {
	var o Outcome
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	stream, err := b.stream(ctx, names.OutcomeStream)
	if err != nil {
		return o, err
	}
	msg, err := stream.GetLastMsgForSubject(ctx, names.OutcomeOf(ref.Session, ref.Tenant, ref.ID))
	if err != nil {
		return o, fault.Errorf(fault.KindOf(kinded(err)), "cannot read the outcome of request %q: %w", ref.ID, err)
	}
	if err := json.Unmarshal(msg.Data, &o); err != nil {
		return o, fault.Errorf(fault.Corrupt, "cannot decode the outcome of request %q: %w", ref.ID, err)
	}
	return o, nil
}
