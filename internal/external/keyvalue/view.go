package keyvalue

import (
	"context"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/stream"
)

var _ external.Viewer[Spec] = (*Client)(nil)

// View reads the configuration of the bucket.
func (c *Client) View(ctx context.Context, s Spec, scope external.Scope) (Spec, error) {
	have, err := c.bus.Manager().ViewKV(ctx, s.Bucket)
	if err != nil {
		return Spec{}, err
	}
	out := Spec{
		Bucket: s.Bucket, History: have.History, MaxBytes: have.MaxBytes, MaxValueSize: have.MaxValueSize,
		Replicas: stream.ViewReplicas(s.Replicas, have.Replicas), TTL: stream.ViewLimit(s.TTL, have.TTL),
		LimitMarkerTTL: stream.ViewLimit(s.LimitMarkerTTL, have.Markers), Placement: stream.ViewPlacement(s.Placement, have.Placement, scope),
	}
	if scope == external.SpecFields && s.History == 0 && have.History == 1 {
		out.History = 0 // the value of a new bucket
	}
	return out, nil
}
