package claim

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/connection"
	"github.com/gorizond/koldun/terraform-provider/internal/tfresource"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// ModifyPlan fills in the namespace, keeps values that mean the same as
// before, and lets a resource that is not ready be waited for again. It
// contacts nothing.
func (r *Resource) ModifyPlan(_ context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	if r.Needs(&resp.Diagnostics, connection.Kubernetes); resp.Diagnostics.HasError() {
		return
	}
	if err := r.plan(req, resp); err != nil {
		r.Broken(&resp.Diagnostics, "plan", err)
	}
}

func (r *Resource) plan(req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) error {
	c, err := r.crd()
	if err != nil {
		return err
	}
	change, err := tfresource.ReadChange(req)
	if err != nil {
		return err
	}
	r.inhabit(change.Plan)
	change.Normalize(c.Spec, append(tfresource.ComputedAttributes(attrReady, attrReason), tfresource.Computed{Attribute: attrStatus, DependsOn: r.kind.StatusDependsOn})...)
	resp.Plan.Raw = change.Plan.Pack(req.Plan.Raw.Type())
	// With what is known only now, the configuration may turn out wrong.
	r.Invalid(&resp.Diagnostics, r.fit(change.Plan), path.Root)
	return nil
}

// inhabit gives the object a namespace, if it is known by now.
func (r *Resource) inhabit(plan tfschema.Object) {
	if plan[attrNamespace].IsKnown() || r.Connections == nil || r.Connections.Settings.Unknown[connection.Kubernetes] {
		return
	}
	plan.Set(attrNamespace, r.Connections.Namespace())
}
