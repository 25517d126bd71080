package managed

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/base"
	"github.com/gorizond/koldun/terraform-provider/internal/connection"
	"github.com/gorizond/koldun/terraform-provider/internal/face"
)

// ModifyPlan says early what cannot be applied, keeps values that mean the
// same as before, and lets a resource that is not ready be waited for again.
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
	config, err := face.Unpack(req.Config.Raw)
	if err != nil {
		return err
	}
	plan, err := face.Unpack(resp.Plan.Raw)
	if err != nil {
		return err
	}
	state, err := face.Unpack(req.State.Raw)
	if err != nil {
		return err
	}
	if !config[attrWrite].IsNull() {
		r.Needs(d, connection.Kubernetes)
	}
	told := []string{attrReady, attrStatus}
	if f := c.Spec.Child(r.kind.Digest); f != nil {
		if generates(config) {
			told = append(told, f.Attribute) // a new secret may be due by then
		} else {
			digest(f.Attribute, config, plan)
		}
	}
	if !req.State.Raw.IsNull() {
		base.Settle(c.Spec, config, state, plan, told...)
	}
	resp.Plan.Raw = plan.Pack(req.Plan.Raw.Type())
	return nil
}
