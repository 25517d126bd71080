package queue

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// Attempts is the record of the attempts of a request that has not ended, stored
// under the subject of its outcome. A leader stores it when it takes over a
// request from another leader, which can then record nothing for it, and before
// it retries a failed attempt. Most requests never have one.
type Attempts struct {
	Request  string    `json:"request"`
	Epoch    uint64    `json:"epoch"`             // of the leader that stored them
	Failed   int       `json:"failed"`            // attempts that failed before their first token
	Reasons  []string  `json:"reasons,omitempty"` // why, oldest first
	Runners  []string  `json:"runners,omitempty"` // runners that failed it
	Groups   []string  `json:"groups,omitempty"`  // of those runners
	UpTo     AttemptID `json:"upTo"`              // the newest counted attempt
	Sequence uint64    `json:"-"`                 // in the outcome stream; 0: not stored
}

// An AttemptID identifies an attempt of a request. Later attempts are greater.
type AttemptID struct {
	Epoch   uint64 `json:"epoch,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
}

// After reports whether t is a later attempt than other.
func (t AttemptID) After(other AttemptID) bool {
	return t.Epoch > other.Epoch || t.Epoch == other.Epoch && t.Attempt > other.Attempt
}

// A record is a message under the subject of an outcome: an Outcome, or Attempts,
// which have no state.
type record struct {
	State State `json:"state"`
}

// PublishAttempts replaces the record with t.Sequence by t, and returns the new
// sequence. It retries until t is stored or ctx ends. Errors: Conflict if another
// leader has stored a record since.
func (q *Queue) PublishAttempts(ctx context.Context, ref Ref, t Attempts) (uint64, error) {
	data, err := json.Marshal(t)
	if err != nil {
		return 0, fault.Errorf(fault.Internal, "cannot encode the tries of request %q: %w", ref.ID, err)
	}
	return q.storeRecord(ctx, ref, data, t.Sequence)
}

// LastAttempts reads the attempts of a request that has not ended, which may have
// none. Errors: Conflict if it has ended, Transient.
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

// storeRecord stores the successor of the record with a sequence, 0 for the first.
func (q *Queue) storeRecord(ctx context.Context, ref Ref, data []byte, after uint64) (uint64, error) {
	seq, err := q.store(ctx, names.OutcomeStream, recordMsg(ref, data, after))
	if fault.Is(err, fault.Conflict) {
		// An earlier publish may have succeeded without its acknowledgement.
		if msg, err := q.lastRecord(ctx, ref); err == nil && string(msg.Data) == string(data) {
			return msg.Sequence, nil
		}
	}
	if err != nil {
		return 0, fault.Errorf(fault.KindOf(err), "cannot record what became of request %q: %w", ref.ID, err)
	}
	return seq, nil
}

// recordMsg is what stores a record as the successor of the one with a sequence.
func recordMsg(ref Ref, data []byte, after uint64) *nats.Msg {
	return &nats.Msg{Subject: names.OutcomeOf(ref.Session, ref.Tenant, ref.ID), Data: data, Header: nats.Header{
		jetstream.ExpectedLastSubjSeqHeader: {strconv.FormatUint(after, 10)},
	}}
}

// lastRecord reads the newest record of a request. A lagging replica may return
// an older one. Errors: NotFound, Transient.
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
