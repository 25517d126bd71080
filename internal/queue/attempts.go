package queue

import (
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// Attempts are what is known of a request that has not ended, stored where its
// outcome will be. A leader stores them when it takes a request over from
// another, which from then on can record nothing of it, and when an attempt has
// failed that will be tried again. Most requests never have any.
type Attempts struct {
	Request  string    `json:"request"`
	Epoch    uint64    `json:"epoch"`             // of the leader that stored them
	Failed   int       `json:"failed"`            // attempts that failed before their first token
	Reasons  []string  `json:"reasons,omitempty"` // why, oldest first
	Runners  []string  `json:"runners,omitempty"` // that failed it
	UpTo     AttemptID `json:"upTo"`              // the newest attempt that is counted
	Sequence uint64    `json:"-"`                 // in the outcome stream; 0: not stored
}

// A AttemptID names an attempt at a request. Later ones are greater.
type AttemptID struct {
	Epoch   uint64 `json:"epoch,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
}

// After reports whether t is a later attempt than other.
func (t AttemptID) After(other AttemptID) bool {
	return t.Epoch > other.Epoch || t.Epoch == other.Epoch && t.Attempt > other.Attempt
}

// A record is what lies under the subject of an outcome: an Outcome, or Attempts,
// which have no state.
type record struct {
	State State `json:"state"`
}

// PublishAttempts stores t in place of the tries with t.Sequence and returns the
// new sequence, trying until it is stored or ctx ends. Errors: Conflict if
// another has recorded something since.
func (q *Queue) PublishAttempts(ctx context.Context, ref Ref, t Attempts) (uint64, error) {
	data, err := json.Marshal(t)
	if err != nil {
		return 0, fault.Errorf(fault.Internal, "cannot encode the tries of request %q: %w", ref.ID, err)
	}
	return q.storeRecord(ctx, ref, data, t.Sequence)
}

// LastAttempts reads the tries of a request that has not ended; none are no error.
// Errors: Conflict if it has ended, Transient.
func (q *Queue) LastAttempts(ctx context.Context, ref Ref) (Attempts, error) {
	t := Attempts{Request: ref.ID}
	msg, err := q.lastRecord(ctx, ref)
	if fault.Is(err, fault.NotFound) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	var r record
	if err := json.Unmarshal(msg.Data, &r); err == nil && r.State != "" {
		return t, fault.Errorf(fault.Conflict, "cannot try request %q again: it has ended", ref.ID)
	}
	if err := json.Unmarshal(msg.Data, &t); err != nil {
		q.log.Warn("cannot decode the tries of a request", "request", ref.ID, "error", err)
		t = Attempts{Request: ref.ID}
	}
	t.Sequence = msg.Sequence
	return t, nil
}

// storeRecord stores what follows the record of a sequence, 0 for the first.
func (q *Queue) storeRecord(ctx context.Context, ref Ref, data []byte, after uint64) (uint64, error) {
	subject := names.OutcomeOf(ref.Session, ref.Tenant, ref.ID)
	seq, err := q.store(ctx, names.OutcomeStream, func() *nats.Msg { return &nats.Msg{Subject: subject, Data: data} },
		jetstream.WithExpectLastSequencePerSubject(after))
	if fault.Is(err, fault.Conflict) {
		// A try of ours may have got through whose confirmation got lost.
		if msg, err := q.lastRecord(ctx, ref); err == nil && string(msg.Data) == string(data) {
			return msg.Sequence, nil
		}
	}
	if err != nil {
		return 0, fault.Errorf(fault.KindOf(err), "cannot record what became of request %q: %w", ref.ID, err)
	}
	return seq, nil
}

// lastRecord reads the newest record of a request. A replica that lags may
// answer with the one before. Errors: NotFound, Transient.
func (q *Queue) lastRecord(ctx context.Context, ref Ref) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	stream, err := q.bus.Stream(ctx, names.OutcomeStream)
	if err != nil {
		return nil, err
	}
	msg, err := stream.GetLastMsgForSubject(ctx, names.OutcomeOf(ref.Session, ref.Tenant, ref.ID))
	if err != nil {
		return nil, fault.Errorf(fault.KindOf(bus.Kinded(err)), "cannot read the outcome of request %q: %w", ref.ID, err)
	}
	return msg, nil
}
