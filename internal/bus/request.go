package bus

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

const (
	// publishTry is how long one try to store a message may take.
	publishTry = 2 * time.Second
	// publishAway is how long a connection may be lost before nobody waits for
	// it any more. A server that is there and busy, or that chooses a new leader
	// of the stream, is waited for as long as the caller likes.
	publishAway = 5 * time.Second
)

// PublishRequest stores a request once, whatever happens on the way: it tries
// again under the same id until the stream has confirmed it or ctx ends (at
// most publishTimeout when ctx has no deadline). It returns the sequence in
// the stream. Errors: Quota with ErrTenantFull or ErrQueueFull, Invalid (too
// large, or a name that cannot be a subject token), Transient (queue absent or
// not reachable: it may or may not be stored).
func (b *Bus) PublishRequest(ctx context.Context, r Request) (uint64, error) {
	for _, word := range []string{r.ID, r.Session, r.Tenant} {
		if !IsToken(word) {
			return 0, fault.Errorf(fault.Invalid, "cannot queue request %q: %q is not a subject token", r.ID, word)
		}
	}
	data, err := encode(&r)
	if err != nil {
		return 0, fault.Errorf(fault.Invalid, "cannot encode request %q: %w", r.ID, err)
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, publishTimeout)
		defer cancel()
	}
	subject := names.RequestSubject(r.Session, r.Tenant)
	seq, err := b.store(ctx, names.RequestStream, func() *nats.Msg { return &nats.Msg{Subject: subject, Data: data} },
		jetstream.WithMsgID(r.ID))
	if err != nil {
		if full := queueFull(err); full != nil {
			err = full
		}
		return 0, fault.Errorf(fault.KindOf(err), "cannot queue request %q: %w", r.ID, err)
	}
	return seq, nil
}

// publishTimeout bounds PublishRequest when its caller does not.
const publishTimeout = 5 * time.Second

// store publishes until the stream confirms or refuses.
func (b *Bus) store(ctx context.Context, stream string, msg func() *nats.Msg, opts ...jetstream.PublishOpt) (uint64, error) {
	opts = append(opts, jetstream.WithExpectStream(stream), jetstream.WithRetryAttempts(0))
	begun := time.Now()
	for attempt := 0; ; attempt++ {
		try, cancel := context.WithTimeout(ctx, publishTry)
		ack, err := b.js.PublishMsg(try, msg(), opts...)
		cancel()
		if err == nil {
			return ack.Sequence, nil
		}
		err = kinded(err)
		absent := errors.Is(err, jetstream.ErrNoStreamResponse) && attempt >= 2 && b.isAbsent(ctx, stream)
		away := !b.Connected() && time.Since(begun) >= publishAway
		if absent || away || !fault.Is(err, fault.Transient) {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, fault.As(endKind(ctx, err), err)
		case <-time.After(backoff(attempt)):
		}
	}
}

// isAbsent reports whether there is no such stream. Nobody answers for one that
// has no leader at the moment either, but that one will have one.
func (b *Bus) isAbsent(ctx context.Context, stream string) bool {
	ctx, cancel := context.WithTimeout(ctx, publishTry)
	defer cancel()
	_, err := b.js.Stream(ctx, stream)
	return errors.Is(err, jetstream.ErrStreamNotFound)
}

// DeleteRequest removes a request from the stream by its sequence. A message
// that is not there is no error.
func (b *Bus) DeleteRequest(ctx context.Context, seq uint64) error {
	return b.deleteMessage(ctx, names.RequestStream, seq)
}

// stream returns the handle of a stream, looked up once.
func (b *Bus) stream(ctx context.Context, name string) (jetstream.Stream, error) {
	b.mu.Lock()
	s := b.streams[name]
	b.mu.Unlock()
	if s != nil {
		return s, nil
	}
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	s, err := b.js.Stream(ctx, name)
	if err != nil {
		return nil, fault.Errorf(fault.KindOf(kinded(err)), "cannot open stream %q: %w", name, err)
	}
	b.mu.Lock()
	b.streams[name] = s
	b.mu.Unlock()
	return s, nil
}

// IsToken reports whether s can be one token of a subject and a key: a session,
// a tenant, a runner or the id of a request.
func IsToken(s string) bool {
	if s == "" || len(s) > 255 {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}
