package claim

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/clients"
	"github.com/gorizond/koldun/terraform-provider/internal/tfresource"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// ModifyPlan sets the namespace, keeps values that mean the same as before, and
// plans an update of a resource that is not ready, so that the next apply waits
// for it again. It opens no connection.
func (r *Resource) ModifyPlan(_ context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	if r.Needs(&resp.Diagnostics, clients.Kubernetes); resp.Diagnostics.HasError() {
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
	r.setNamespace(change.Plan)
	change.Normalize(c.Spec, append(tfresource.ComputedAttributes(attrReady, attrReason), tfresource.Computed{Attribute: attrStatus, DependsOn: r.kind.StatusDependsOn})...)
	resp.Plan.Raw = change.Plan.Pack(req.Plan.Raw.Type())
	// The plan knows values that ValidateConfig did not.
	r.Invalid(&resp.Diagnostics, r.fit(change.Plan), path.Root)
	return nil
}

// setNamespace sets the default namespace if the configuration has none, and if
// the provider's settings are known.
func (r *Resource) setNamespace(plan tfschema.Object) {
	if !r.namespaced() || plan[attrNamespace].IsKnown() || r.Connections == nil || r.Connections.Settings.Unknown[clients.Kubernetes] {
		return
	}
	plan.Set(attrNamespace, r.Connections.Namespace())
}
