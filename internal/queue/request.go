package queue

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue/wire"
)

const (
	// publishTry is how long one try to store a message may take.
	publishTry = 2 * time.Second
	// publishAway is how long a connection may be lost before nobody waits for
	// it any more. A server that is there and busy, or that chooses a new leader
	// of the stream, is waited for as long as the caller likes.
	publishAway = 5 * time.Second
)

// Errors of Publish that callers tell apart.
var (
	// ErrQueueFull: the request stream is full.
	ErrQueueFull = errors.New("the queue is full")
	// ErrTenantFull: the tenant has as many requests in this session as it may.
	ErrTenantFull = errors.New("too many requests of this tenant are waiting")
)

// Publish stores a request once, whatever happens on the way: it tries
// again under the same id until the stream has confirmed it or ctx ends (at
// most publishTimeout when ctx has no deadline). It returns the sequence in
// the stream. Errors: Quota with ErrTenantFull or ErrQueueFull, Invalid (too
// large, or a name that cannot be a subject token), Transient (queue absent or
// not reachable: it may or may not be stored).
func (q *Queue) Publish(ctx context.Context, r Request) (uint64, error) {
	for _, word := range []string{r.ID, r.Session, r.Tenant} {
		if !bus.IsToken(word) {
			return 0, fault.Errorf(fault.Invalid, "cannot queue request %q: %q is not a subject token", r.ID, word)
		}
	}
	data, err := wire.Encode(&r)
	if err != nil {
		return 0, fault.Errorf(fault.Invalid, "cannot encode request %q: %w", r.ID, err)
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, publishTimeout)
		defer cancel()
	}
	subject := names.RequestSubject(r.Session, r.Tenant)
	seq, err := q.store(ctx, names.RequestStream, func() *nats.Msg { return &nats.Msg{Subject: subject, Data: data} },
		jetstream.WithMsgID(r.ID))
	if err != nil {
		if full := queueFull(err); full != nil {
			err = full
		}
		return 0, fault.Errorf(fault.KindOf(err), "cannot queue request %q: %w", r.ID, err)
	}
	return seq, nil
}

// publishTimeout bounds Publish when its caller does not.
const publishTimeout = 5 * time.Second

// store publishes until the stream confirms or refuses.
func (q *Queue) store(ctx context.Context, stream string, msg func() *nats.Msg, opts ...jetstream.PublishOpt) (uint64, error) {
	opts = append(opts, jetstream.WithExpectStream(stream), jetstream.WithRetryAttempts(0))
	begun := time.Now()
	for attempt := 0; ; attempt++ {
		try, cancel := context.WithTimeout(ctx, publishTry)
		ack, err := q.bus.JetStream().PublishMsg(try, msg(), opts...)
		cancel()
		if err == nil {
			return ack.Sequence, nil
		}
		err = bus.Kinded(err)
		absent := errors.Is(err, jetstream.ErrNoStreamResponse) && attempt >= 2 && q.isAbsent(ctx, stream)
		away := !q.bus.Connected() && time.Since(begun) >= publishAway
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

// isAbsent reports whether there is no such stream. Nobody answers for one that
// has no leader at the moment either, but that one will have one.
func (q *Queue) isAbsent(ctx context.Context, stream string) bool {
	ctx, cancel := context.WithTimeout(ctx, publishTry)
	defer cancel()
	_, err := q.bus.JetStream().Stream(ctx, stream)
	return errors.Is(err, jetstream.ErrStreamNotFound)
}

// Delete removes a request from the stream by its sequence. A message
// that is not there is no error.
func (q *Queue) Delete(ctx context.Context, seq uint64) error {
	return q.deleteMessage(ctx, names.RequestStream, seq)
}

// queueFull tells the limits of the request stream apart.
func queueFull(err error) error {
	var api *jetstream.APIError
	if !errors.As(err, &api) || api.ErrorCode != bus.CodeStoreFailed {
		return nil
	}
	if strings.Contains(api.Description, "per subject") {
		return fault.As(fault.Quota, ErrTenantFull)
	}
	return fault.As(fault.Quota, ErrQueueFull)
}
