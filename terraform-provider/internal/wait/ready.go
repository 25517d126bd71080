package wait

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gorizond/koldun/internal/fault"
)

// UntilReady waits until observe reports a ready object, as the policy says, and
// adds a diagnostic if the object is not ready in the end. While a server cannot
// be reached, UntilReady keeps waiting. It returns when ctx ends, which carries
// the limit; the limit is only named in the diagnostic. An error is one of
// observe that is not transient.
func UntilReady(ctx context.Context, p Policy, name string, limit time.Duration, d *diag.Diagnostics, observe func(context.Context) (State, error)) (State, error) {
	s, err := Poll(ctx, func(ctx context.Context) (State, error) {
		s, err := observe(ctx)
		if fault.Is(err, fault.Transient) && ctx.Err() == nil {
			s, err = State{Reason: "Unreachable", Message: err.Error()}, nil
		}
		return s, err
	}, p.None)
	if err == nil && !s.Ready && !p.None {
		report(d, p, name, outcomeOf(ctx, limit), s)
	}
	return s, err
}

// outcomeOf describes how a wait ended before the object was ready.
func outcomeOf(ctx context.Context, limit time.Duration) outcome {
	if errors.Is(ctx.Err(), context.Canceled) {
		return outcome{text: "is not ready: the wait was interrupted"}
	}
	return outcome{text: fmt.Sprintf("is not ready after %s", limit.Round(time.Second)), timedOut: true}
}

type outcome struct {
	text     string
	timedOut bool // false: interrupted
}

// report adds a warning or, if the policy says so, an error. An object that
// cannot become ready is always an error. An interrupted wait is never one: an
// error would taint a resource that is well.
func report(d *diag.Diagnostics, p Policy, name string, o outcome, s State) {
	why := s.Text()
	if why == "" {
		why = "it has not reported a state yet"
	}
	switch {
	case s.Final:
		d.AddError(name+" cannot become ready", why)
	case p.Fail && o.timedOut:
		d.AddError(name+" "+o.text, why)
	default:
		d.AddWarning(name+" "+o.text, why+"\n\nIt exists and continues on its own. The next apply waits for it again; set timeouts to wait longer.")
	}
}
