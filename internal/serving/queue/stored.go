package queue

import (
	"context"
	"errors"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// stored returns the number of requests of a session in the stream.
func (s requests) stored(ctx context.Context, session string) (int, error) {
	subjects, err := s.requestSubjects(ctx, names.RequestSubject(session, "*"))
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
func (s requests) Oldest(ctx context.Context, session string, skip func(id string) bool) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	for query := (messageQuery{Seq: 1, NextBySubject: names.RequestSubject(session, "*")}); ; {
		msg, err := s.getMessage(ctx, query)
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
