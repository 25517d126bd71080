package queue

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
)

const (
	// publishTry limits one attempt to store a message.
	publishTry = 2 * time.Second
	// publishAway limits the wait for a lost connection. The caller's context
	// limits the wait for a server that is busy or elects a new leader.
	publishAway = 5 * time.Second
)

// streams are the streams of the queue in JetStream.
type streams struct{ bus *bus.Bus }

// store publishes until the stream confirms or refuses the message, or ctx ends.
func (s streams) store(ctx context.Context, stream string, msg *nats.Msg) (uint64, error) {
	begun := time.Now()
	for attempt := 0; ; attempt++ {
		seq, err := s.storeOnce(ctx, stream, msg)
		if err == nil {
			return seq, nil
		}
		err = bus.Kinded(err)
		absent := errors.Is(err, jetstream.ErrNoStreamResponse) && attempt >= 2 && s.isAbsent(ctx, stream)
		away := !s.bus.Connected() && time.Since(begun) >= publishAway
		if absent || away || !fault.Is(err, fault.Transient) {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, fault.As(bus.KindAtEnd(ctx, err), err)
		case <-time.After(bus.Backoff(attempt)):
		}
	}
}

// storeOnce makes one attempt. It costs less than the client library's way, which makes
// a context and decodes JSON for each message.
func (s streams) storeOnce(ctx context.Context, stream string, msg *nats.Msg) (seq uint64, err error) {
	type result struct {
		seq uint64
		err error
	}
	answered := make(chan result, 1)
	if err := s.offer(stream, msg, publishTry, func(seq uint64, err error) { answered <- result{seq, err} }); err != nil {
		return 0, err
	}
	select {
	case r := <-answered:
		return r.seq, r.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// offer publishes a message for a stream without waiting: it calls stored once, from
// another goroutine, within about the given time, and not if it returns an error. stored
// must not block for long.
func (s streams) offer(stream string, msg *nats.Msg, within time.Duration, stored func(seq uint64, err error)) error {
	if msg.Header == nil {
		msg.Header = nats.Header{}
	}
	msg.Header[jetstream.ExpectedStreamHeader] = []string{stream}
	return s.bus.AskMsg(msg, within, func(answer *nats.Msg, err error) {
		var seq uint64
		switch {
		case errors.Is(err, nats.ErrNoResponders):
			err = jetstream.ErrNoStreamResponse
		case err == nil:
			seq, err = confirmed(answer.Data, stream)
		}
		stored(seq, err)
	})
}

// isAbsent reports whether the stream does not exist. A stream without a leader
// does not answer either, but will have one.
func (s streams) isAbsent(ctx context.Context, stream string) bool {
	ctx, cancel := context.WithTimeout(ctx, publishTry)
	defer cancel()
	_, err := s.bus.JetStream().Stream(ctx, stream)
	return errors.Is(err, jetstream.ErrStreamNotFound)
}
