package gateway

import (
	"context"

	"github.com/gorizond/koldun/internal/bus"
)

// A queue is what the gateway needs of the bus for one request.
type queue interface {
	// Follow begins to collect the frames of a request.
	Follow(ref bus.Ref) (frames, error)
	// Publish stores a request once. See bus.PublishRequest for the errors.
	Publish(ctx context.Context, r bus.Request) error
	// Cancel makes whoever holds a request drop it.
	Cancel(ctx context.Context, ref bus.Ref, reason string) error
}

// frames are the frames of one request; bus.Frames says how they behave.
type frames interface {
	Next(ctx context.Context) (bus.Frame, error)
	Ready() (bus.Frame, bool)
	Close()
}

type busQueue struct{ bus *bus.Bus }

func (q busQueue) Follow(ref bus.Ref) (frames, error) { return q.bus.SubscribeFrames(ref) }

func (q busQueue) Publish(ctx context.Context, r bus.Request) error {
	_, err := q.bus.PublishRequest(ctx, r)
	return err
}

func (q busQueue) Cancel(ctx context.Context, ref bus.Ref, reason string) error {
	return q.bus.Cancel(ctx, ref, reason)
}
