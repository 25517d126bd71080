package autoscaler

import "time"

// TTL is how long the plan of an unobserved pool is stored.
const TTL = time.Hour

// A Record is the stored plan of a pool.
type Record struct {
	Plan  Plan      `json:"plan"`
	Saved time.Time `json:"saved"`
}

// Outdated reports whether a plan must be stored, because members have changed or
// more than a moment would be lost.
func (r Record) Outdated(next Plan, l Limits, now time.Time) bool {
	if len(r.Plan.Members) != len(next.Members) || r.Plan.Next != next.Next || r.Plan.Slots != next.Slots || r.Plan.MissingSince.IsZero() != next.MissingSince.IsZero() || now.Sub(r.Saved) > TTL/4 {
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
