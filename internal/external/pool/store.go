package pool

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// planTTL is how long the plan of an unobserved pool is stored.
const planTTL = time.Hour

// A record is the stored plan of a pool.
type record struct {
	Plan  plan      `json:"plan"`
	Saved time.Time `json:"saved"`
}

// load returns the stored plan, or a new one.
func (c *Client) load(ctx context.Context, s Spec, now time.Time) (r record, revision uint64, err error) {
	r, revision, err = bus.Get[record](ctx, c.bus, names.PoolsBucket, names.PoolKey(s.Session, s.id()))
	if err == nil || !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Corrupt) {
		return r, revision, err
	}
	if len(s.Known.Members) == 0 && s.Known.NextMember == 0 {
		return record{Plan: newPlan(s.limits(), now)}, 0, nil
	}
	members := make([]member, 0, len(s.Known.Members))
	for _, m := range s.Known.Members {
		members = append(members, member{Name: m.Name, Phase: m.Phase, DrainOrdered: m.Phase != Active})
	}
	return record{Plan: recoverPlan(members, s.Known.NextMember, now)}, 0, nil
}

// save replaces the plan of a revision; 0 means that none exists. Errors: Conflict
// if another process was faster.
func (c *Client) save(ctx context.Context, s Spec, p plan, revision uint64, now time.Time) error {
	key := names.PoolKey(s.Session, s.id())
	r := record{Plan: p, Saved: now}
	if revision != 0 {
		_, err := c.bus.Update(ctx, names.PoolsBucket, key, r, revision, planTTL)
		return err
	}
	_, err := c.bus.Create(ctx, names.PoolsBucket, key, r, planTTL)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	// The bucket does not exist yet.
	spec, _ := bus.Bucket(names.PoolsBucket)
	if err := c.bus.EnsureKV(ctx, spec); err != nil {
		return err
	}
	_, err = c.bus.Create(ctx, names.PoolsBucket, key, r, planTTL)
	return err
}

// outdated reports whether a plan must be stored, because members have changed or
// more than a moment would be lost.
func (r record) outdated(next plan, l limits, now time.Time) bool {
	if len(r.Plan.Members) != len(next.Members) || r.Plan.Next != next.Next || r.Plan.Slots != next.Slots || r.Plan.MissingSince.IsZero() != next.MissingSince.IsZero() || now.Sub(r.Saved) > planTTL/4 {
		return true
	}
	for i, m := range next.Members {
		if r.Plan.Members[i] != m {
			return true
		}
	}
	if len(next.NeededAt) > len(r.Plan.NeededAt) {
		return true
	}
	moment := max(l.idle/8, time.Second)
	for i, at := range next.NeededAt {
		if at.Sub(r.Plan.NeededAt[i]) > moment {
			return true
		}
	}
	return false
}
