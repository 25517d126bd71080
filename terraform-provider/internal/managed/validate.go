package managed

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/face"
)

// specPath is where the fields stand in YAML.
const specPath = "spec.forProvider"

// ValidateConfig refuses what an API server that has the CRD would refuse.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	c, err := r.crd()
	if err != nil {
		resp.Diagnostics.AddError("Cannot make the schema", err.Error())
		return
	}
	o, err := face.Unpack(req.Config.Raw)
	if err != nil {
		resp.Diagnostics.AddError("Cannot read koldun_"+r.kind.Name, err.Error())
		return
	}
	e, err := o.Encode(c.Spec, specPath)
	if err != nil {
		resp.Diagnostics.AddError("Cannot read koldun_"+r.kind.Name, err.Error())
		return
	}
	obj := map[string]any{"metadata": map[string]any{"name": "terraform"}, "spec": map[string]any{"forProvider": e.Value}}
	findings, err := r.check.Check(ctx, c, obj, e.Unknown)
	if err != nil {
		resp.Diagnostics.AddError("Cannot check koldun_"+r.kind.Name, err.Error())
		return
	}
	for _, f := range findings {
		at := face.Path(c.Spec, path.Empty(), strings.TrimPrefix(f.Path, specPath))
		if at.Equal(path.Empty()) {
			resp.Diagnostics.AddError("Invalid koldun_"+r.kind.Name, f.Message)
			continue
		}
		resp.Diagnostics.AddAttributeError(at, "Invalid koldun_"+r.kind.Name, f.Message)
	}
}
