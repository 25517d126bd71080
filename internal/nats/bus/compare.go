package bus

import (
	"context"
	"errors"
	"reflect"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
)

// CompareStream returns a stream, or nil if it does not exist, and reports
// whether EnsureStream would leave it unchanged.
func (b *Bus) CompareStream(ctx context.Context, spec StreamSpec) (have *jetstream.StreamInfo, same bool, err error) {
	return b.compare(ctx, spec.config())
}

// CompareKV returns the stream of a bucket, or nil if it does not exist, and
// reports whether EnsureKV would leave it unchanged.
func (b *Bus) CompareKV(ctx context.Context, spec KVSpec) (have *jetstream.StreamInfo, same bool, err error) {
	return b.compare(ctx, spec.config())
}

func (b *Bus) compare(ctx context.Context, want jetstream.StreamConfig) (*jetstream.StreamInfo, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	stream, err := b.js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, false, nil
	}
	if err != nil {
		err = Kinded(err)
		return nil, false, fault.Errorf(fault.KindOf(err), "cannot look up JetStream stream %q: %w", want.Name, err)
	}
	info := stream.CachedInfo()
	return info, reflect.DeepEqual(info.Config, replace(info.Config, want)), nil
}

// DeleteStream deletes a stream with all its messages. The error is NotFound if
// it does not exist.
func (b *Bus) DeleteStream(ctx context.Context, name string) error {
	if err := Kinded(b.js.DeleteStream(ctx, name)); err != nil {
		return fault.Errorf(fault.KindOf(err), "cannot delete JetStream stream %q: %w", name, err)
	}
	return nil
}

// DeleteKV deletes a bucket with all its keys. The error is NotFound if it does
// not exist.
func (b *Bus) DeleteKV(ctx context.Context, bucket string) error {
	if err := Kinded(b.js.DeleteKeyValue(ctx, bucket)); err != nil {
		return fault.Errorf(fault.KindOf(err), "cannot delete key-value bucket %q: %w", bucket, err)
	}
	return nil
}
