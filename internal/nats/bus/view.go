package bus

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// ViewStream returns the configuration of a stream: the spec for which
// EnsureStream would leave it unchanged, if it has limits retention. Errors:
// NotFound.
func (m StreamManager) ViewStream(ctx context.Context, name string) (StreamSpec, error) {
	c, err := m.view(ctx, name)
	if err != nil {
		return StreamSpec{}, fault.Errorf(fault.KindOf(err), "cannot look up JetStream stream %q: %w", name, err)
	}
	return StreamSpec{
		Stream: names.Stream{
			Name: c.Name, Description: c.Description, Subjects: c.Subjects, MaxAge: c.MaxAge, MaxBytes: limited(c.MaxBytes),
			MaxMsgs: limited(c.MaxMsgs), MaxMsgSize: limited(c.MaxMsgSize), MaxPerSubject: limited(c.MaxMsgsPerSubject),
			DiscardNew: c.Discard == jetstream.DiscardNew, Dedupe: c.Duplicates,
		},
		Replicas: c.Replicas, Placement: placement(c.Placement),
	}, nil
}

// ViewKV returns the configuration of a key-value bucket. Errors: NotFound.
func (m StreamManager) ViewKV(ctx context.Context, bucket string) (KVSpec, error) {
	c, err := m.view(ctx, names.KVStream(bucket))
	if err != nil {
		return KVSpec{}, fault.Errorf(fault.KindOf(err), "cannot look up key-value bucket %q: %w", bucket, err)
	}
	return KVSpec{
		Bucket:  names.Bucket{Name: bucket, Description: c.Description, Markers: c.SubjectDeleteMarkerTTL},
		History: int(c.MaxMsgsPerSubject), TTL: c.MaxAge,
		MaxBytes: limited(c.MaxBytes), MaxValueSize: limited(c.MaxMsgSize), Replicas: c.Replicas,
		Placement: placement(c.Placement),
	}, nil
}

func (m StreamManager) view(ctx context.Context, name string) (jetstream.StreamConfig, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	s, err := m.streams.stream(ctx, name)
	if err != nil {
		return jetstream.StreamConfig{}, Kinded(err)
	}
	return s.CachedInfo().Config, nil
}

// limited is the inverse of unlimited.
func limited[N int32 | int64](n N) N { return max(n, 0) }

func placement(p *jetstream.Placement) Placement {
	if p == nil {
		return Placement{}
	}
	return Placement{Cluster: p.Cluster, Tags: p.Tags}
}
