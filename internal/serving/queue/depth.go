package queue

import (
	"context"
	"time"

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
