package managed

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/clients"
	"github.com/gorizond/koldun/terraform-provider/internal/tfresource"
)

// ModifyPlan reports early what cannot be applied, keeps values that are
// equivalent to the prior ones, and plans another wait for a resource that is
// not ready.
func (r *Resource) ModifyPlan(_ context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	r.Needs(&resp.Diagnostics, r.kind.Needs...)
	if err := r.plan(req, resp, &resp.Diagnostics); err != nil {
		r.Broken(&resp.Diagnostics, "plan", err)
	}
}

func (r *Resource) plan(req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse, d *diag.Diagnostics) error {
	c, err := r.crd()
	if err != nil {
		return err
	}
	change, err := tfresource.ReadChange(req)
	if err != nil {
		return err
	}
	if !change.Config[attrWrite].IsNull() {
		r.Needs(d, clients.Kubernetes)
	}
	computed := tfresource.ComputedAttributes(attrReady, attrStatus)
	if f := c.Spec.Child(r.kind.Digest); f != nil {
		if generates(change.Config) {
			computed = append(computed, tfresource.Computed{Attribute: f.Attribute}) // a new secret may be due by then
		} else {
			digest(f.Attribute, change.Config, change.Plan)
		}
	}
	change.Normalize(c.Spec, computed...)
	resp.Plan.Raw = change.Plan.Pack(req.Plan.Raw.Type())
	return nil
}
