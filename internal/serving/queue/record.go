package queue

import (
	"context"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// outcomes is the stream of what became of requests: their attempts and outcomes.
type outcomes struct{ streams streams }

// A record is a message under the subject of an outcome: an Outcome, or Attempts,
// which have no state.
type record struct {
	State State `json:"state"`
}

// storeRecord stores the successor of the record with a sequence, 0 for the first.
func (s outcomes) storeRecord(ctx context.Context, ref Ref, data []byte, after uint64) (uint64, error) {
	seq, err := s.streams.store(ctx, names.OutcomeStream, recordMsg(ref, data, after))
	if fault.Is(err, fault.Conflict) {
		// An earlier publish may have succeeded without its acknowledgement.
		if msg, err := s.lastRecord(ctx, ref); err == nil && string(msg.Data) == string(data) {
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
func (s outcomes) lastRecord(ctx context.Context, ref Ref) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	stream, err := s.streams.bus.Stream(ctx, names.OutcomeStream)
	if err != nil {
		return nil, err
	}
	msg, err := stream.GetLastMsgForSubject(ctx, names.OutcomeOf(ref.Session, ref.Tenant, ref.ID))
	if err != nil {
		return nil, fault.Errorf(fault.KindOf(bus.Kinded(err)), "cannot read the outcome of request %q: %w", ref.ID, err)
	}
	return msg, nil
}
