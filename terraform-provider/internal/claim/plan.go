package claim

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/connection"
	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/face"
)

// ModifyPlan fills in the namespace, keeps values that mean the same as
// before, and lets a resource that is not ready be waited for again. It
// contacts nothing.
func (r *Resource) ModifyPlan(_ context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	c, err := r.crd()
	if err != nil {
		resp.Diagnostics.AddError("Cannot make the schema", err.Error())
		return
	}
	if r.connections != nil {
		if m := r.connections.Missing(connection.Kubernetes); m != "" {
			resp.Diagnostics.AddError(fmt.Sprintf("koldun_%s needs a cluster", r.kind.Name), m)
			return
		}
	}
	plan, err := face.Unpack(req.Plan.Raw)
	if err == nil {
		var state face.Object
		if state, err = face.Unpack(req.State.Raw); err == nil {
			r.inhabit(plan)
			if !req.State.Raw.IsNull() {
				settle(c, state, plan)
			}
		}
	}
	if err != nil {
		resp.Diagnostics.AddError("Cannot plan koldun_"+r.kind.Name, err.Error())
		return
	}
	resp.Plan.Raw = plan.Pack(req.Plan.Raw.Type())
	// With what is known only now, the configuration may turn out wrong.
	for _, f := range r.fit(plan) {
		resp.Diagnostics.AddAttributeError(path.Root(f.Path), "Invalid koldun_"+r.kind.Name, f.Message)
	}
}

// inhabit gives the object a namespace, if it is known by now.
func (r *Resource) inhabit(plan face.Object) {
	if plan[attrNamespace].IsKnown() || r.connections == nil || r.connections.Settings.Unknown[connection.Kubernetes] {
		return
	}
	plan.Set(attrNamespace, r.namespace())
}

// namespace is that of objects that name none.
func (r *Resource) namespace() string {
	return cmp.Or(r.connections.Settings.Kube.Namespace, "default")
}

// settle puts the plan in the words of the state. If nothing is to change and
// the object is ready, nothing is planned at all.
func settle(c *crd.Kind, state, plan face.Object) {
	changed := false
	for _, f := range c.Spec.Fields {
		a := f.Attribute
		if plan[a].IsFullyKnown() && face.Same(f, state[a], plan[a]) {
			plan[a] = state[a]
		}
	}
	computed := []string{attrReady, attrReason, attrStatus}
	for a, v := range plan {
		if a == attrReady || a == attrReason || a == attrStatus {
			continue
		}
		changed = changed || !v.Equal(state[a])
	}
	for _, a := range computed {
		switch {
		case !state.True(attrReady), changed:
			plan[a] = tftypes.NewValue(plan[a].Type(), tftypes.UnknownValue)
		default:
			plan[a] = state[a]
		}
	}
}
