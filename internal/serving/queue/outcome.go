package queue

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue/wire"
)

// PublishOutcome stores the terminal record of a request. It retries until the
// record is stored or ctx ends. The record must follow the Attempts with the
// sequence after, or be the first one if after is 0. A request has at most one
// outcome: if another leader has stored a record in between, the error is a
// Conflict.
func (s outcomes) PublishOutcome(ctx context.Context, o Outcome, after uint64) error {
	data, err := wire.Encode(&o)
	if err != nil {
		return fault.Errorf(fault.Internal, "cannot encode the outcome of request %q: %w", o.Request, err)
	}
	_, err = s.storeRecord(ctx, Ref{ID: o.Request, Session: o.Session, Tenant: o.Tenant}, data, after)
	return err
}

// OfferOutcome makes one attempt to store an outcome like PublishOutcome, without
// waiting: it calls stored once, from another goroutine, within about the given
// time. stored must not block for long. If OfferOutcome returns an error, it does
// not call stored. After any error it is unknown whether the outcome is stored:
// call PublishOutcome.
func (s outcomes) OfferOutcome(o Outcome, after uint64, within time.Duration, stored func(error)) error {
	data, err := wire.Encode(&o)
	if err != nil {
		return fault.Errorf(fault.Internal, "cannot encode the outcome of request %q: %w", o.Request, err)
	}
	msg := recordMsg(Ref{ID: o.Request, Session: o.Session, Tenant: o.Tenant}, data, after)
	return s.streams.offer(names.OutcomeStream, msg, within, func(_ uint64, err error) { stored(bus.Kinded(err)) })
}

// Outcome reads the terminal record of a request. Errors: NotFound if the request
// has not ended or the record has expired; Transient without an answer within
// apiTimeout.
func (s outcomes) Outcome(ctx context.Context, ref Ref) (Outcome, error) {
	var o Outcome
	msg, err := s.lastRecord(ctx, ref)
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

// Outcomes calls handle for each terminal record of a session ("*" for all) since
// the given time, oldest first, until handle returns false. Errors: NotFound (no
// such stream), Transient.
func (s outcomes) Outcomes(ctx context.Context, session string, since time.Time, handle func(Outcome) bool) error {
	all := scan{stream: names.OutcomeStream, filter: names.OutcomeOf(session, "*", "*"), since: since}
	return s.streams.scan(ctx, all, decoded(s.streams, names.OutcomeStream, func(o Outcome) bool { return o.State == "" || handle(o) }))
}

// FindOutcome finds the terminal record of a request by its id alone. Errors:
// NotFound, Transient, Invalid (no id).
func (s outcomes) FindOutcome(ctx context.Context, id string) (Outcome, error) {
	var found Outcome
	_, err := s.streams.lookUp(ctx, names.OutcomeStream, names.OutcomeOf("*", "*", id), id, &found)
	if err == nil && found.State == "" {
		return Outcome{}, fault.Errorf(fault.NotFound, "cannot find the outcome of request %q: it has not ended", id)
	}
	return found, err
}
