package queue

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// sweepTry limits one attempt to remove requests.
const sweepTry = 5 * time.Second

// Purge removes all requests of a session below a sequence with one write. It
// makes one attempt. Call it only with the sequence of a Lasting Entry. Errors:
// Transient, NotFound (no stream).
func (s requests) Purge(ctx context.Context, session string, below uint64) error {
	ctx, cancel := context.WithTimeout(ctx, sweepTry)
	defer cancel()
	stream, err := s.streams.bus.Stream(ctx, names.RequestStream)
	if err != nil {
		return err
	}
	filter := jetstream.WithPurgeSubject(names.RequestSubject(session, "*"))
	if err := stream.Purge(ctx, filter, jetstream.WithPurgeSequence(below)); err != nil {
		return fault.Errorf(fault.KindOf(bus.Kinded(err)), "cannot remove the requests of session %q below %d: %w", session, below, err)
	}
	return nil
}
