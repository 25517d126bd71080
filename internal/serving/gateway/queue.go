package gateway

import (
	"context"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// A requestQueue is what the gateway needs of the queue for one request.
type requestQueue interface {
	// Follow begins to collect the frames of a request.
	Follow(ref queue.Ref) (frames, error)
	// Publish stores a request once. See queue.Publish for the errors.
	Publish(ctx context.Context, r queue.Request) error
	// Cancel makes the dispatcher or runner that holds a request drop it.
	Cancel(ctx context.Context, ref queue.Ref, reason string) error
}

// frames are the frames of one request, as described at queue.Frames.
type frames interface {
	Next(ctx context.Context) (queue.Frame, error)
	Ready() (queue.Frame, bool)
	Close()
}

// A natsQueue is the request queue on NATS.
type natsQueue struct{ *queue.Queue }

func (q natsQueue) Follow(ref queue.Ref) (frames, error) { return q.SubscribeFrames(ref) }

func (q natsQueue) Publish(ctx context.Context, r queue.Request) error {
	_, err := q.Queue.Publish(ctx, r)
	return err
}
