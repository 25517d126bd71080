package queue

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue/wire"
)

// publishTimeout limits Publish without a deadline.
const publishTimeout = 5 * time.Second

// Errors of Publish for the limits of the stream.
var (
	// ErrQueueFull: the request stream is full.
	ErrQueueFull = errors.New("the queue is full")
	// ErrTenantFull: the tenant has reached its limit of requests in this session.
	ErrTenantFull = errors.New("too many requests of this tenant are waiting")
)

// requests is the stream of requests that have not ended.
type requests struct{ streams streams }

// Publish stores a request exactly once: it retries under the same id until the
// stream has acknowledged it or ctx ends (after publishTimeout if ctx has no
// deadline). It returns the sequence in the stream. Errors: Quota with
// ErrTenantFull or ErrQueueFull, Invalid (too large, or a name that is no subject
// token), Transient (queue absent or unreachable: the request may be stored).
func (s requests) Publish(ctx context.Context, r Request) (uint64, error) {
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
	seq, err := s.streams.store(ctx, names.RequestStream, &nats.Msg{
		Subject: names.RequestSubject(r.Session, r.Tenant), Data: data, Header: nats.Header{jetstream.MsgIDHeader: {r.ID}},
	})
	if err != nil {
		if full := queueFull(err); full != nil {
			err = full
		}
		return 0, fault.Errorf(fault.KindOf(err), "cannot queue request %q: %w", r.ID, err)
	}
	return seq, nil
}

// Delete deletes a request from the stream by its sequence, if it exists.
func (s requests) Delete(ctx context.Context, seq uint64) error {
	return s.streams.delete(ctx, names.RequestStream, seq)
}

// queueFull returns the error for the exceeded limit of the request stream.
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
