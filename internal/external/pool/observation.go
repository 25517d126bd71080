package pool

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/external/pool/autoscaler"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// observe reads the queue and the runners. The answers of runners to drain orders
// may be newer than their records.
func (c *Client) observe(ctx context.Context, s Spec, members []autoscaler.Member, answers map[string]queue.Runner, now time.Time) (autoscaler.Observation, error) {
	found, settled, err := c.runners.list(ctx, s.Session)
	if err != nil {
		return autoscaler.Observation{}, err
	}
	depth, err := queue.New(c.bus).Depth(ctx, s.Session)
	if err != nil {
		return autoscaler.Observation{}, err
	}
	return autoscaler.NewObservation(s.assigned(), members, autoscaler.Newest(found, answers), depth, !now.Before(settled)), nil
}

// assigned returns the function that names the runner of a member; nil without an owner,
// because the names of runners begin with it.
func (s Spec) assigned() autoscaler.Runner {
	if s.Owner == "" {
		return nil
	}
	return s.runner
}

// runner returns the name of a member's runner.
func (s Spec) runner(member string) string {
	namespace, name := s.owner()
	return names.MemberRunner(namespace, name, member)
}
