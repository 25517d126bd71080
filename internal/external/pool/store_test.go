package pool

import (
	"testing"
	"time"
)

func TestOutdated(t *testing.T) {
	l := limits{max: 4, perOne: 1, idle: 80 * time.Second} // a moment is 10 s
	kept := record{Plan: plan{Members: []member{{Name: "0", Phase: Active}}, Next: 1, NeededAt: []time.Time{start}}, Saved: start}
	for name, c := range map[string]struct {
		change func(p *plan)
		after  time.Duration
		want   bool
	}{
		"Nothing":        {func(*plan) {}, time.Second, false},
		"Old":            {func(*plan) {}, planTTL/4 + time.Second, true},
		"NotOld":         {func(*plan) {}, planTTL / 4, false},
		"MemberAdded":    {func(p *plan) { p.add() }, 0, true},
		"MemberDrains":   {func(p *plan) { p.Members = []member{{Name: "0", Phase: Draining}} }, 0, true},
		"Next":           {func(p *plan) { p.Next++ }, 0, true},
		"Slots":          {func(p *plan) { p.Slots = 4 }, 0, true},
		"MissingSince":   {func(p *plan) { p.MissingSince = start }, 0, true},
		"MoreNeeded":     {func(p *plan) { p.NeededAt = []time.Time{start, start} }, 0, true},
		"FewerNeeded":    {func(p *plan) { p.NeededAt = nil }, 0, false},
		"NeededLater":    {func(p *plan) { p.NeededAt = []time.Time{start.Add(11 * time.Second)} }, 0, true},
		"NeededJustNow":  {func(p *plan) { p.NeededAt = []time.Time{start.Add(10 * time.Second)} }, 0, false},
		"GrownIsNothing": {func(p *plan) { p.GrownAt = start }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			next := kept.Plan
			c.change(&next)
			if got := kept.outdated(next, l, start.Add(c.after)); got != c.want {
				t.Errorf("outdated = %t, want %t", got, c.want)
			}
		})
	}
}
