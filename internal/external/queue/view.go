package queue

import (
	"context"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/internal/fault"
)

var _ external.Viewer[Spec] = (*Client)(nil)

// View reads the configuration of the parts, in the order of the spec. It returns
// the spec of a part that does not exist.
func (c *Client) View(ctx context.Context, s Spec, scope external.Scope) (Spec, error) {
	var out Spec
	for _, p := range s.Streams {
		seen, err := view(ctx, c.streams, p, scope)
		if err != nil {
			return Spec{}, err
		}
		out.Streams = append(out.Streams, satisfied(p, seen))
	}
	for _, p := range s.KeyValues {
		seen, err := view(ctx, c.keyValues, p, scope)
		if err != nil {
			return Spec{}, err
		}
		seen.MaxBytes = satisfying(p.MaxBytes, seen.MaxBytes)
		seen.Replicas = satisfying(p.Replicas, seen.Replicas)
		out.KeyValues = append(out.KeyValues, seen)
	}
	return out, nil
}

// satisfied returns what is seen of a stream, with the spec's own limits where the
// stream has greater ones: those satisfy it, see stream.Client.Raised.
func satisfied(want, seen stream.Spec) stream.Spec {
	seen.MaxBytes = satisfying(want.MaxBytes, seen.MaxBytes)
	seen.MaxMsgs = satisfying(want.MaxMsgs, seen.MaxMsgs)
	seen.MaxMsgSize = satisfying(want.MaxMsgSize, seen.MaxMsgSize)
	seen.MaxMsgsPerSubject = satisfying(want.MaxMsgsPerSubject, seen.MaxMsgsPerSubject)
	seen.Replicas = satisfying(want.Replicas, seen.Replicas)
	return seen
}

func satisfying[N int | int32 | int64](want, seen N) N {
	if want > 0 && (seen <= 0 || seen > want) {
		return want
	}
	return seen
}

func view[S stream.Spec | keyvalue.Spec](ctx context.Context, of external.Viewer[S], part S, scope external.Scope) (S, error) {
	seen, err := of.View(ctx, part, scope)
	if fault.Is(err, fault.NotFound) {
		return part, nil
	}
	return seen, err
}
