package keyvalue

import (
	"context"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/stream"
)

var _ external.Viewer[Spec] = (*Client)(nil)

// View reads how the bucket is configured.
func (c *Client) View(ctx context.Context, s Spec) (Spec, error) {
	have, err := c.bus.ViewKV(ctx, s.Bucket)
	if err != nil {
		return Spec{}, err
	}
	out := Spec{
		Bucket: s.Bucket, History: have.History, MaxBytes: have.MaxBytes, MaxValueSize: have.MaxValueSize,
		Replicas: have.Replicas, Placement: stream.ViewPlacement(s.Placement, have.Placement),
	}
	if s.History == 0 && have.History == 1 {
		out.History = 0 // as a new bucket has it
	}
	if have.TTL > 0 {
		d := external.Duration(have.TTL)
		out.TTL = &d
	}
	if have.Markers > 0 {
		d := external.Duration(have.Markers)
		out.LimitMarkerTTL = &d
	}
	return out, nil
}
