package claim

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// ValidateConfig refuses what the API server or the functions would refuse, and
// secrets that plans and the state would hold. Terraform calls it again while it
// plans and applies, when it knows values that depend on other resources.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	c, err := r.crd()
	if err != nil {
		r.Broken(&resp.Diagnostics, "check", err)
		return
	}
	findings, err := r.findings(ctx, c, req)
	if err != nil {
		r.Broken(&resp.Diagnostics, "check", err)
		return
	}
	r.Invalid(&resp.Diagnostics, findings, attributePath(c))
}

func (r *Resource) findings(ctx context.Context, c *crd.Kind, req resource.ValidateConfigRequest) ([]preflight.Finding, error) {
	o, err := tfschema.Unpack(req.Config.Raw)
	if err != nil {
		return nil, err
	}
	e, err := o.Encode(c.Spec, "spec")
	if err != nil {
		return nil, err
	}
	meta := map[string]any{"name": "unknown"}
	for _, a := range []string{attrName, attrNamespace} {
		if s := o.Text(a); s != "" {
			meta[a] = s
		}
	}
	spec, _ := e.Value.(map[string]any)
	out := preflight.Secrets(c.Spec, spec)
	out = append(out, r.fit(o)...)
	more, err := r.Check.Check(ctx, c, map[string]any{"metadata": meta, "spec": spec}, e.Unknown)
	return append(out, more...), err
}

// attributePath translates YAML paths of a kind into paths of attributes.
func attributePath(c *crd.Kind) func(yaml string) path.Path {
	return func(p string) path.Path {
		switch {
		case strings.HasPrefix(p, "metadata."):
			return path.Root(strings.TrimPrefix(p, "metadata."))
		case strings.HasPrefix(p, "spec"):
			return tfschema.Path(c.Spec, path.Empty(), strings.TrimPrefix(p, "spec"))
		}
		return path.Root(p)
	}
}
