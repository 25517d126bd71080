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
func (m StreamManager) CompareStream(ctx context.Context, spec StreamSpec) (have *jetstream.StreamInfo, same bool, err error) {
	return m.compare(ctx, spec.config())
}

// CompareKV returns the stream of a bucket, or nil if it does not exist, and
// reports whether EnsureKV would leave it unchanged.
func (m StreamManager) CompareKV(ctx context.Context, spec KVSpec) (have *jetstream.StreamInfo, same bool, err error) {
	return m.compare(ctx, spec.config())
}

func (m StreamManager) compare(ctx context.Context, want jetstream.StreamConfig) (*jetstream.StreamInfo, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	stream, err := m.streams.conn.js.Stream(ctx, want.Name)
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
