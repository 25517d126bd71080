package pool

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/external/pool/autoscaler"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// load returns the stored plan, or a new one.
func (c *Client) load(ctx context.Context, s Spec, now time.Time) (r autoscaler.Record, revision uint64, err error) {
	r, revision, err = bus.Get[autoscaler.Record](ctx, c.bus, names.PoolsBucket, names.PoolKey(s.Session, s.id()))
	if err == nil || !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Corrupt) {
		return r, revision, err
	}
	if len(s.Known.Members) == 0 && s.Known.NextMember == 0 {
		return autoscaler.Record{Plan: autoscaler.NewPlan(s.limits(), now)}, 0, nil
	}
	members := make([]autoscaler.Member, 0, len(s.Known.Members))
	for _, m := range s.Known.Members {
		members = append(members, autoscaler.Member{Name: m.Name, Phase: m.Phase, DrainOrdered: m.Phase != autoscaler.Active})
	}
	return autoscaler.Record{Plan: autoscaler.RecoverPlan(members, s.Known.NextMember, now)}, 0, nil
}

// save replaces the plan of a revision; 0 means that none exists. Errors: Conflict
// if another process was faster.
func (c *Client) save(ctx context.Context, s Spec, p autoscaler.Plan, revision uint64, now time.Time) error {
	key := names.PoolKey(s.Session, s.id())
	r := autoscaler.Record{Plan: p, Saved: now}
	if revision != 0 {
		_, err := c.bus.Update(ctx, names.PoolsBucket, key, r, revision, autoscaler.TTL)
		return err
	}
	_, err := c.bus.Create(ctx, names.PoolsBucket, key, r, autoscaler.TTL)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	// The bucket does not exist yet.
	spec, _ := bus.Bucket(names.PoolsBucket)
	if err := c.bus.EnsureKV(ctx, spec); err != nil {
		return err
	}
	_, err = c.bus.Create(ctx, names.PoolsBucket, key, r, autoscaler.TTL)
	return err
}
