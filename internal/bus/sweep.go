package bus

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// sweepTry bounds one try to remove requests.
const sweepTry = 5 * time.Second

// firstSequence is where the sequences of a request stream made now begin: the
// time in microseconds. No stream counts that fast, so the sequences of a stream
// made in place of one that was lost are all larger than any of that one's. Who
// removes messages by the numbers that they had in the old stream removes none
// of the new one.
func firstSequence(now time.Time) uint64 { return uint64(now.UnixMicro()) }

// lasting reports whether the sequences of a stream are never given out again,
// also if it is lost and made anew. Those of a stream that somebody else has
// made begin at 1.
func lasting(c jetstream.StreamConfig) bool {
	return c.FirstSeq >= firstSequence(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
}

// SweepRequests removes all requests of a session below a sequence, which is one
// write however many there are. It makes one try. Call it only with a sequence of
// an Entry that is Lasting. Errors: Transient, NotFound (no stream).
func (b *Bus) SweepRequests(ctx context.Context, session string, below uint64) error {
	ctx, cancel := context.WithTimeout(ctx, sweepTry)
	defer cancel()
	stream, err := b.stream(ctx, names.RequestStream)
	if err != nil {
		return err
	}
	filter := jetstream.WithPurgeSubject(names.RequestSubject(session, "*"))
	if err := stream.Purge(ctx, filter, jetstream.WithPurgeSequence(below)); err != nil {
		return fault.Errorf(fault.KindOf(kinded(err)), "cannot remove the requests of session %q below %d: %w", session, below, err)
	}
	return nil
}
