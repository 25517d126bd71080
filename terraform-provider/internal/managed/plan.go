package managed

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/face"
)

// ModifyPlan says early what cannot be applied, keeps values that mean the
// same as before, and lets a resource that is not ready be waited for again.
func (r *Resource) ModifyPlan(_ context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	if r.connections != nil {
		for _, s := range r.kind.Needs {
			if m := r.connections.Missing(s); m != "" {
				resp.Diagnostics.AddError(fmt.Sprintf("koldun_%s needs %s", r.kind.Name, s), m)
			}
		}
	}
	if r.kind.Digest != "" {
		r.digest(req, resp)
	}
	if req.State.Raw.IsNull() || resp.Diagnostics.HasError() {
		return
	}
	plan, err := r.settled(req.State.Raw, resp.Plan.Raw)
	if err != nil {
		resp.Diagnostics.AddError("Cannot plan koldun_"+r.kind.Name, err.Error())
		return
	}
	resp.Plan.Raw = plan
}

// settled is the plan in the words of the state. If nothing else is to change
// and the thing is ready, nothing is planned at all.
func (r *Resource) settled(before, after tftypes.Value) (tftypes.Value, error) {
	c, err := r.crd()
	if err != nil {
		return after, err
	}
	state, err := face.Unpack(before)
	if err != nil {
		return after, err
	}
	plan, err := face.Unpack(after)
	if err != nil {
		return after, err
	}
	changed := !plan[attrWait].Equal(state[attrWait]) || !plan[attrTimeouts].Equal(state[attrTimeouts])
	for _, f := range c.Spec.Fields {
		a := f.Attribute
		if plan[a].IsFullyKnown() && face.Same(f, state[a], plan[a]) {
			plan[a] = state[a]
		}
		changed = changed || !plan[a].Equal(state[a])
	}
	for _, a := range []string{attrReady, attrStatus} {
		switch {
		case !state.True(attrReady), changed:
			plan[a] = tftypes.NewValue(plan[a].Type(), tftypes.UnknownValue)
		default:
			plan[a] = state[a]
		}
	}
	return plan.Pack(after.Type()), nil
}
