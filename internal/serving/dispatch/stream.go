package dispatch

import (
	"context"
	"time"
)

// lastPurgeTimeout limits the last purge of a leader that releases its session.
const lastPurgeTimeout = time.Second

// A stream is what a leader has read of the request stream, and what of that it may remove.
// The leader's loop owns it.
type stream struct {
	*loop
	records  records
	purger   purger     // messages of requests that ended
	ended    *recentIDs // requests that ended under this leader
	replayed bool       // the backlog has been read
	rereads  bool       // it is read once more, or was
	readOn   uint64     // the connection that it was read on
}

// isRead reports whether the stream is still the one that was read.
func (s *stream) isRead() bool { return s.records.isRead(s.readOn) }

// end records the end of a request that the stream may still have.
func (s *stream) end(j *job) {
	now := time.Now()
	s.ended.add(j.req.ID, now)
	if j.stored {
		s.purger.end(j.seq, now)
	}
}

// purge removes the messages of ended requests. The next leader handles those that
// remain.
func (s *stream) purge(now time.Time) {
	if !s.isRead() {
		return
	}
	on := s.readOn
	below, single := s.purger.plan(now, false)
	if below > 0 {
		s.do(func(ctx context.Context) error { return s.records.purgeBelow(ctx, on, below) }, nil)
	}
	for _, seq := range single {
		s.do(func(ctx context.Context) error { return s.records.deleteMessage(ctx, on, seq) }, nil)
	}
}

// purgeLast removes as many messages as possible when the leadership ends.
func (s *stream) purgeLast() {
	ctx, cancel := context.WithTimeout(context.Background(), lastPurgeTimeout)
	defer cancel()
	if !s.isRead() {
		return
	}
	below, single := s.purger.plan(time.Now(), true)
	if below > 0 && s.records.purgeBelow(ctx, s.readOn, below) != nil {
		return
	}
	for _, seq := range single {
		if s.records.deleteMessage(ctx, s.readOn, seq) != nil {
			return
		}
	}
}
