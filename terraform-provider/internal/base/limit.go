package base

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

// Limit is the time limit of one operation: timeouts.Value.Create, Update or
// Delete.
func Limit(ctx context.Context, from Attributes, of func(timeouts.Value, context.Context, time.Duration) (time.Duration, diag.Diagnostics),
	usual time.Duration, d *diag.Diagnostics,
) time.Duration {
	var limits timeouts.Value
	d.Append(from.GetAttribute(ctx, path.Root(AttrTimeouts), &limits)...)
	limit, more := of(limits, ctx, usual)
	d.Append(more...)
	return limit
}

// Whole is a context for a change that is not to be cut short when the user
// interrupts: half of it would be in nobody's state. It has the values and the
// deadline of another.
func Whole(ctx context.Context) (context.Context, context.CancelFunc) {
	out := context.WithoutCancel(ctx)
	if at, ok := ctx.Deadline(); ok {
		return context.WithDeadline(out, at)
	}
	return context.WithCancel(out)
}
