package queue

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
)

const (
	scanBatch = 200             // messages per pull
	scanWait  = 5 * time.Second // for the first of them
)

// A scan reads the current messages of a stream.
type scan struct {
	stream      string
	filter      string
	since       time.Time // time of the first message; zero: all
	last        bool      // only the last of each subject
	headersOnly bool
}

// scan calls handle for each message, oldest first, until handle returns false or
// all existing messages have been read. Errors: NotFound (no such stream),
// Transient.
func (s streams) scan(ctx context.Context, of scan, handle func(jetstream.Msg) bool) error {
	cfg := jetstream.ConsumerConfig{
		FilterSubject:     of.filter,
		AckPolicy:         jetstream.AckNonePolicy,
		HeadersOnly:       of.headersOnly,
		InactiveThreshold: readIdle,
		MemoryStorage:     true,
		Replicas:          1,
	}
	switch {
	case of.last:
		cfg.DeliverPolicy = jetstream.DeliverLastPerSubjectPolicy
	case !of.since.IsZero():
		cfg.DeliverPolicy, cfg.OptStartTime = jetstream.DeliverByStartTimePolicy, &of.since
	}
	setup, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	consumer, err := s.bus.JetStream().CreateConsumer(setup, of.stream, cfg)
	if err != nil {
		return fault.Errorf(fault.KindOf(bus.Kinded(err)), "cannot read stream %q: %w", of.stream, err)
	}
	defer func() { // otherwise the server deletes it later
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTry)
		defer cancel()
		_ = s.bus.JetStream().DeleteConsumer(ctx, of.stream, consumer.CachedInfo().Name)
	}()
	for left := consumer.CachedInfo().NumPending; left > 0; {
		if err := ctx.Err(); err != nil {
			return fault.Errorf(bus.KindAtEnd(ctx, err), "cannot read stream %q: %w", of.stream, err)
		}
		batch, err := consumer.Fetch(int(min(left, scanBatch)), jetstream.FetchMaxWait(scanWait))
		if err != nil {
			return fault.Errorf(fault.KindOf(bus.Kinded(err)), "cannot read stream %q: %w", of.stream, err)
		}
		before := left
		for msg := range batch.Messages() {
			left--
			if !handle(msg) {
				return nil
			}
		}
		if err := batch.Error(); err != nil {
			return fault.Errorf(fault.KindOf(bus.Kinded(err)), "cannot read stream %q: %w", of.stream, err)
		}
		if left == before {
			return nil // the counted messages have been deleted
		}
	}
	return nil
}

// decoded calls handle for the messages that can be decoded to T.
func decoded[T any](s streams, stream string, handle func(T) bool) func(jetstream.Msg) bool {
	return func(msg jetstream.Msg) bool {
		var value T
		if err := json.Unmarshal(msg.Data(), &value); err != nil {
			s.bus.Logger().Warn("cannot decode a message", "stream", stream, "subject", msg.Subject(), "error", err)
			return true
		}
		return handle(value)
	}
}

// lookUp reads the message of a request with unknown session and tenant, and
// returns its sequence.
func (s streams) lookUp(ctx context.Context, stream, filter, id string, value any) (uint64, error) {
	if !bus.IsToken(id) {
		return 0, fault.Errorf(fault.Invalid, "cannot look up request %q: that is no id of a request", id)
	}
	var found jetstream.Msg
	err := s.scan(ctx, scan{stream: stream, filter: filter, last: true}, func(msg jetstream.Msg) bool {
		found = msg
		return false
	})
	if err != nil {
		return 0, err
	}
	if found == nil {
		return 0, fault.Errorf(fault.NotFound, "cannot find request %q in stream %q", id, stream)
	}
	if err := json.Unmarshal(found.Data(), value); err != nil {
		return 0, fault.Errorf(fault.Corrupt, "cannot decode request %q of stream %q: %w", id, stream, err)
	}
	meta, err := found.Metadata()
	if err != nil {
		return 0, fault.As(fault.Internal, err)
	}
	return meta.Sequence.Stream, nil
}

// delete deletes a message if it exists.
func (s streams) delete(ctx context.Context, name string, seq uint64) error {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	stream, err := s.bus.Stream(ctx, name)
	if err != nil {
		return err
	}
	if err = stream.DeleteMsg(ctx, seq); err != nil && !isGone(err) {
		return fault.Errorf(fault.KindOf(bus.Kinded(err)), "cannot delete message %d of stream %q: %w", seq, name, err)
	}
	return nil
}

// isGone reports whether deleting a message failed because it does not exist. The
// client library returns only the text of the server. A server that is stopping
// ("store is closed") or has lost its leader returns other texts.
func isGone(err error) bool {
	return errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) && slices.ContainsFunc(
		[]string{"err_code=10043 ", "no message found", "stream store EOF"},
		func(said string) bool { return strings.Contains(err.Error(), said) })
}
