package dispatch

import (
	"testing"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// Requests are refused for now only while no runner serves or may serve soon.
func TestRefusalOfAllRunners(t *testing.T) {
	of := func(state queue.RunnerState, seconds int) *peer {
		p := &peer{rec: queue.Runner{State: state}}
		if seconds > 0 {
			p.rec.Refusal = &queue.Failure{Code: queue.CodeBusy, RetryAfter: seconds}
		}
		return p
	}
	for name, c := range map[string]struct {
		peers []*peer
		want  int // seconds of the refusal; 0: none
	}{
		"Nothing":  {nil, 0},
		"One":      {[]*peer{of(queue.RunnerStarting, 9)}, 9},
		"Soonest":  {[]*peer{of(queue.RunnerStarting, 9), of(queue.RunnerStarting, 3), of(queue.RunnerStarting, 5)}, 3},
		"Serves":   {[]*peer{of(queue.RunnerStarting, 9), of(queue.RunnerIdle, 0)}, 0},
		"Busy":     {[]*peer{of(queue.RunnerStarting, 9), of(queue.RunnerBusy, 0)}, 0},
		"Loads":    {[]*peer{of(queue.RunnerStarting, 9), of(queue.RunnerStarting, 0)}, 0},
		"Draining": {[]*peer{of(queue.RunnerStarting, 9), of(queue.RunnerDraining, 0)}, 9},
	} {
		t.Run(name, func(t *testing.T) {
			all := &peers{byName: map[string]*peer{}}
			for i, p := range c.peers {
				all.byName[string(rune('a'+i))] = p
			}
			got := 0
			if f := all.refusal(); f != nil {
				got = f.RetryAfter
			}
			if got != c.want {
				t.Errorf("the refusal asks for %d s, want %d", got, c.want)
			}
		})
	}
}
