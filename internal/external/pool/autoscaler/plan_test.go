package autoscaler

import (
	"testing"
	"time"
)

func TestNextStep(t *testing.T) {
	all, some := of("0 1", start), of("0 1d", start)
	soon, late := start.Add(time.Second), start.Add(time.Hour)
	poll := start.Add(pollInterval)
	for name, c := range map[string]struct {
		plan        Plan
		waiting     int
		again, want time.Time
	}{
		"Idle":         {all, 0, time.Time{}, time.Time{}},
		"IdleStep":     {all, 0, late, late},
		"Waiting":      {all, 1, time.Time{}, poll},
		"WaitingSoon":  {all, 1, soon, soon},
		"WaitingLate":  {all, 1, late, poll},
		"Draining":     {some, 0, time.Time{}, poll},
		"DrainingLate": {some, 0, late, poll},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.plan.NextStep(State{waiting: c.waiting}, c.again, start); !got.Equal(c.want) {
				t.Errorf("next step at %v, want %v", got, c.want)
			}
		})
	}
}
