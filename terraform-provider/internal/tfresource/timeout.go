package tfresource

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// AttrTimeouts is the attribute with the time limits.
const AttrTimeouts = "timeouts"

// Attributes are those of a plan or a state.
type Attributes interface {
	GetAttribute(ctx context.Context, p path.Path, target any) diag.Diagnostics
}

// Timeout returns the time limit of one operation. operation is
// timeouts.Value.Create, Update or Delete; fallback applies if the attribute
// does not set it.
func Timeout(ctx context.Context, from Attributes, operation func(timeouts.Value, context.Context, time.Duration) (time.Duration, diag.Diagnostics),
	fallback time.Duration, d *diag.Diagnostics,
) time.Duration {
	var limits timeouts.Value
	d.Append(from.GetAttribute(ctx, path.Root(AttrTimeouts), &limits)...)
	limit, more := operation(limits, ctx, fallback)
	d.Append(more...)
	return limit
}

// Uninterrupted returns a context with the values and the deadline of ctx that
// an interrupt of the user does not cancel. Use it for a change that no state
// would record if it were cut short.
func Uninterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	out := context.WithoutCancel(ctx)
	if at, ok := ctx.Deadline(); ok {
		return context.WithDeadline(out, at)
	}
	return context.WithCancel(out)
}
