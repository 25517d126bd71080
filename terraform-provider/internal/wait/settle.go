package wait

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gorizond/koldun/internal/fault"
)

// Settle waits as a policy says until a thing is ready, and says so if it is
// not. A server that cannot be reached for a while is waited for as well. It
// ends with ctx, which has the limit; an error is one of looking.
func Settle(ctx context.Context, p Policy, name string, limit time.Duration, d *diag.Diagnostics, look func(context.Context) (State, error)) (State, error) {
	s, err := Until(ctx, func(ctx context.Context) (State, error) {
		s, err := look(ctx)
		if fault.Is(err, fault.Transient) && ctx.Err() == nil {
			s, err = State{Reason: "Unreachable", Message: err.Error()}, nil
		}
		return s, err
	}, p.None)
	if err == nil && !s.Ready && !p.None {
		report(d, p, name, end(ctx, limit), s)
	}
	return s, err
}

// end says in words how a wait ended that did not end by itself.
func end(ctx context.Context, limit time.Duration) ending {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ending{"is not ready: the wait was interrupted", false}
	}
	return ending{fmt.Sprintf("is not ready after %s", limit.Round(time.Second)), true}
}

type ending struct {
	text    string
	patient bool // it waited as long as it was allowed to
}

// report says that a resource is not ready: as a warning or an error, as the
// policy has it. What cannot become ready is an error always, and an interrupted
// wait never: that would taint what is well.
func report(d *diag.Diagnostics, p Policy, name string, e ending, s State) {
	why := s.Text()
	if why == "" {
		why = "nothing was heard of it"
	}
	switch {
	case s.Final:
		d.AddError(name+" cannot become ready", why)
	case p.Fail && e.patient:
		d.AddError(name+" "+e.text, why)
	default:
		d.AddWarning(name+" "+e.text, why+"\n\nIt exists and goes on by itself. The next apply waits for it again; timeouts says how long.")
	}
}
