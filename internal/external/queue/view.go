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
		out.Streams = append(out.Streams, seen)
	}
	for _, p := range s.KeyValues {
		seen, err := view(ctx, c.keyValues, p, scope)
		if err != nil {
			return Spec{}, err
		}
		out.KeyValues = append(out.KeyValues, seen)
	}
	return out, nil
}

func view[S stream.Spec | keyvalue.Spec](ctx context.Context, of external.Viewer[S], part S, scope external.Scope) (S, error) {
	seen, err := of.View(ctx, part, scope)
	if fault.Is(err, fault.NotFound) {
		return part, nil
	}
	return seen, err
}
