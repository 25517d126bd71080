package queue

import (
	"context"
	"errors"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// depthTimeout limits how long a leader has for its answer.
const depthTimeout = 500 * time.Millisecond

// Depth returns the number of requests of a session that have not ended, waiting or
// running. The leader of the session knows it; without one, all requests in the
// stream count. Those that have ended stay there for up to a second, so that a
// session with many short requests would seem to have a queue. Errors: NotFound if
// there is neither leader nor request stream.
func (q *Queue) Depth(ctx context.Context, session string) (int, error) {
	try, cancel := context.WithTimeout(ctx, depthTimeout)
	defer cancel()
	if d, err := bus.Call[Depth](try, q.bus, names.DepthSubject(session), DepthQuery{}); err == nil {
		return d.Requests, nil
	}
	return q.stored(ctx, session)
}

// stored returns the number of requests of a session in the stream.
func (q *Queue) stored(ctx context.Context, session string) (int, error) {
	subjects, err := q.requestSubjects(ctx, names.RequestSubject(session, "*"))
	if err != nil {
		return 0, fault.Errorf(fault.KindOf(err), "cannot count the requests of session %q: %w", session, err)
	}
	total := uint64(0)
	for _, n := range subjects {
		total += n
	}
	return int(total), nil
}

// Oldest returns the time of the oldest request of a session for whose id skip
// returns false, by the stream's leader, or zero. It reads messages one by one, so
// skip few.
func (q *Queue) Oldest(ctx context.Context, session string, skip func(id string) bool) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	for query := (messageQuery{Seq: 1, NextBySubject: names.RequestSubject(session, "*")}); ; {
		msg, err := q.getMessage(ctx, query)
		if errors.Is(err, errNoMessage) {
			return time.Time{}, nil
		}
		if err != nil {
			return time.Time{}, fault.Errorf(fault.KindOf(err), "cannot read the oldest request of session %q: %w", session, err)
		}
		if !skip(msg.id()) {
			return msg.Time, nil
		}
		query.Seq = msg.Sequence + 1
	}
}
