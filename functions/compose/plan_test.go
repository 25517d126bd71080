package compose_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gorizond/koldun/functions/compose"
)

func TestPlanRunsUntilAStepStops(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		second compose.Next
		err    error
		ran    []int
	}{
		"All":   {compose.Continue, nil, []int{1, 2, 3}},
		"Stop":  {compose.Stop, nil, []int{1, 2}},
		"Error": {compose.Continue, broken, []int{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var ran []int
			step := func(n int, next compose.Next, err error) compose.Step {
				return func() (compose.Next, error) { ran = append(ran, n); return next, err }
			}
			var p compose.Plan
			err := p.Run(step(1, compose.Continue, nil), step(2, c.second, c.err), step(3, compose.Continue, nil))
			if !errors.Is(err, c.err) || !slices.Equal(ran, c.ran) {
				t.Errorf("steps %v ran, and the error is %v", ran, err)
			}
		})
	}
}
