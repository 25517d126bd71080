package modelartifact

import (
	"context"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
)

// observeVolume returns what a Job has found in a volume, which nothing else mounts.
// The key of its report holds the value of Verify: another value is another Job.
func (c *Client) observeVolume(ctx context.Context, s Spec) (external.Observation[Status], error) {
	o := external.Observation[Status]{Exists: true, UpToDate: true, Message: "no Job has inspected the files yet"}
	r, err := c.reports(ctx, s.ProgressKey)
	if fault.Is(err, fault.NotFound) {
		return o, nil
	}
	if err != nil {
		return o, err
	}
	if r.Phase != progress.Done || r.Shape == nil {
		if r.Message != "" {
			o.Message = r.Message
		}
		o.Status.Progress = progressOf(r)
		return o, nil
	}
	o.Ready, o.Message = true, ""
	o.Status = Status{Whole: true, SizeBytes: r.Total, Weights: string(r.Shape.Weights), Shape: r.Shape, Verified: s.Verify}
	return o, nil
}
