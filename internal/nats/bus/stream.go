package bus

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
)

// streams are the streams of a connection.
type streams struct {
	conn *connection

	mu   sync.Mutex
	open map[string]jetstream.Stream // handles of those in use
}

// Stream returns the cached handle of a stream. Errors: NotFound, Denied, Transient.
func (s *streams) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	s.mu.Lock()
	opened := s.open[name]
	s.mu.Unlock()
	if opened != nil {
		return opened, nil
	}
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	opened, err := s.stream(ctx, name)
	if err != nil {
		return nil, fault.Errorf(fault.KindOf(Kinded(err)), "cannot open stream %q: %w", name, err)
	}
	s.mu.Lock()
	s.open[name] = opened
	s.mu.Unlock()
	return opened, nil
}

func (s *streams) stream(ctx context.Context, name string) (jetstream.Stream, error) {
	return permitted(ctx, &s.conn.permits, streamAPI+"INFO."+name, func(ctx context.Context) (jetstream.Stream, error) {
		return s.conn.js.Stream(ctx, name)
	})
}

// FirstSequence returns the first sequence of a request stream that is created
// now: the time in microseconds. No stream counts that fast, so all sequences of
// a stream that replaces a lost one are larger, and a caller that deletes by
// sequences of the lost stream deletes nothing of the new one.
func FirstSequence(now time.Time) uint64 { return uint64(now.UnixMicro()) }

// UniqueSequences reports whether the sequences of a stream are never reused, even
// if the stream is lost and recreated. Streams that were not created by Ensure
// start at 1 each time.
func UniqueSequences(c jetstream.StreamConfig) bool {
	return c.FirstSeq >= FirstSequence(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
}

// IsToken reports whether s is valid as a token of a subject and of a key, such as
// a session, a tenant, a runner or the id of a request.
func IsToken(s string) bool {
	if s == "" || len(s) > 255 {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}
