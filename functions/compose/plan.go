package compose

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/reason"
)

// A Next says whether the steps after one run.
type Next int

// A step stops when later steps have nothing to work with. A step that has
// failed and lets the plan continue keeps desired what runs already.
const (
	Continue Next = iota
	Stop
)

// A Step composes one part of an object.
type Step func() (Next, error)

// A Plan composes an object in steps, and sets its condition Serving once.
type Plan struct {
	*Call
	failed bool
}

// Run runs the steps in order, until one stops or returns an error.
func (p *Plan) Run(steps ...Step) error {
	for _, step := range steps {
		if next, err := step(); err != nil || next == Stop {
			return err
		}
	}
	return nil
}

// Fail sets the condition Serving to false. The first failure of a plan stands:
// later ones, and Serve, change nothing.
func (p *Plan) Fail(why reason.Reason, format string, args ...any) {
	if !p.failed {
		p.failed = true
		p.False(v1.ConditionServing, why, format, args...)
	}
}

// FailIf sets the condition Serving to false for a reason, unless that is empty.
func (p *Plan) FailIf(why reason.Reason, message string) {
	if why != "" {
		p.Fail(why, "%s", message)
	}
}

// Failed reports whether a step has failed.
func (p *Plan) Failed() bool { return p.failed }

// Serve sets the condition Serving to true, unless a step has failed.
func (p *Plan) Serve(why reason.Reason, format string, args ...any) {
	if !p.failed {
		p.True(v1.ConditionServing, why, format, args...)
	}
}
