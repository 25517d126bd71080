package bus

import (
	"context"

	"github.com/gorizond/koldun/internal/fault"
)

// A StreamManager looks up, compares and deletes streams and buckets.
type StreamManager struct{ streams *streams }

// Manager returns the manager of all streams and buckets of the account.
func (s *streams) Manager() StreamManager { return StreamManager{s} }

// DeleteStream deletes a stream with all its messages. The error is NotFound if
// it does not exist.
func (m StreamManager) DeleteStream(ctx context.Context, name string) error {
	if err := Kinded(m.streams.conn.js.DeleteStream(ctx, name)); err != nil {
		return fault.Errorf(fault.KindOf(err), "cannot delete JetStream stream %q: %w", name, err)
	}
	return nil
}

// DeleteKV deletes a bucket with all its keys. The error is NotFound if it does
// not exist.
func (m StreamManager) DeleteKV(ctx context.Context, bucket string) error {
	if err := Kinded(m.streams.conn.js.DeleteKeyValue(ctx, bucket)); err != nil {
		return fault.Errorf(fault.KindOf(err), "cannot delete key-value bucket %q: %w", bucket, err)
	}
	return nil
}
