package managed

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/face"
)

// digest plans the SHA-256 of a secret that only the configuration has.
func (r *Resource) digest(req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	c, err := r.crd()
	if err != nil {
		resp.Diagnostics.AddError("Cannot make the schema", err.Error())
		return
	}
	config, err := face.Unpack(req.Config.Raw)
	if err == nil {
		var plan face.Object
		if plan, err = face.Unpack(req.Plan.Raw); err == nil {
			a := c.Spec.Child(r.kind.Digest).Attribute
			switch said, secret := config[a], config[attrSecret]; {
			case !said.IsNull() && !secret.IsNull():
				resp.Diagnostics.AddAttributeError(path.Root(a), "Invalid koldun_"+r.kind.Name, "Give either "+a+" or "+attrSecret+", not both.")
			case !secret.IsNull() && !secret.IsKnown():
				plan[a] = tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
			case !secret.IsNull():
				plan.Set(a, digestOf(config.Text(attrSecret)))
			case said.IsNull():
				resp.Diagnostics.AddError("Invalid koldun_"+r.kind.Name, "Give the secret as "+attrSecret+", or its hash as "+a+".")
			}
			resp.Plan.Raw = plan.Pack(req.Plan.Raw.Type())
		}
	}
	if err != nil {
		resp.Diagnostics.AddError("Cannot plan koldun_"+r.kind.Name, err.Error())
	}
}

// reveal is a plan with the SHA-256 of a secret that became known only now.
func (r *Resource) reveal(plan, config tftypes.Value) tftypes.Value {
	c, err := r.crd()
	if err != nil || r.kind.Digest == "" {
		return plan
	}
	p, errP := face.Unpack(plan)
	said, errC := face.Unpack(config)
	a := c.Spec.Child(r.kind.Digest).Attribute
	if errP != nil || errC != nil || p[a].IsKnown() {
		return plan
	}
	p.Set(a, digestOf(said.Text(attrSecret)))
	return p.Pack(plan.Type())
}

func digestOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
