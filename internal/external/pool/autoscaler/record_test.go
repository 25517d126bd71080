package autoscaler

import (
	"testing"
	"time"
)

func TestOutdated(t *testing.T) {
	l := Limits{max: 4, perOne: 1, idle: 80 * time.Second} // a moment is 10 s
	kept := Record{Plan: Plan{Members: []Member{{Name: "0", Phase: Active}}, Next: 1, NeededAt: []time.Time{start}}, Saved: start}
	for name, c := range map[string]struct {
		change func(p *Plan)
		after  time.Duration
		want   bool
	}{
		"Nothing":        {func(*Plan) {}, time.Second, false},
		"Old":            {func(*Plan) {}, TTL/4 + time.Second, true},
		"NotOld":         {func(*Plan) {}, TTL / 4, false},
		"MemberAdded":    {func(p *Plan) { p.add() }, 0, true},
		"MemberDrains":   {func(p *Plan) { p.Members = []Member{{Name: "0", Phase: Draining}} }, 0, true},
		"Next":           {func(p *Plan) { p.Next++ }, 0, true},
		"Slots":          {func(p *Plan) { p.Slots = 4 }, 0, true},
		"MissingSince":   {func(p *Plan) { p.MissingSince = start }, 0, true},
		"MoreNeeded":     {func(p *Plan) { p.NeededAt = []time.Time{start, start} }, 0, true},
		"FewerNeeded":    {func(p *Plan) { p.NeededAt = nil }, 0, false},
		"NeededLater":    {func(p *Plan) { p.NeededAt = []time.Time{start.Add(11 * time.Second)} }, 0, true},
		"NeededJustNow":  {func(p *Plan) { p.NeededAt = []time.Time{start.Add(10 * time.Second)} }, 0, false},
		"GrownIsNothing": {func(p *Plan) { p.GrownAt = start }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			next := kept.Plan
			c.change(&next)
			if got := kept.Outdated(next, l, start.Add(c.after)); got != c.want {
				t.Errorf("outdated = %t, want %t", got, c.want)
			}
		})
	}
}
