package claim

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// ValidateConfig refuses what the API server would refuse, what the cluster
// would find out later, and secrets where they would stand in the state.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	findings, root, err := r.findings(ctx, req)
	if err != nil {
		r.Broken(&resp.Diagnostics, "check", err)
		return
	}
	r.Invalid(&resp.Diagnostics, findings, root)
}

func (r *Resource) findings(ctx context.Context, req resource.ValidateConfigRequest) ([]preflight.Finding, func(string) path.Path, error) {
	c, err := r.crd()
	if err != nil {
		return nil, nil, err
	}
	o, err := tfschema.Unpack(req.Config.Raw)
	if err != nil {
		return nil, nil, err
	}
	e, err := o.Encode(c.Spec, "spec")
	if err != nil {
		return nil, nil, err
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
	at := func(p string) path.Path {
		switch {
		case strings.HasPrefix(p, "metadata."):
			return path.Root(strings.TrimPrefix(p, "metadata."))
		case strings.HasPrefix(p, "spec"):
			return tfschema.Path(c.Spec, path.Empty(), strings.TrimPrefix(p, "spec"))
		}
		return path.Root(p)
	}
	return append(out, more...), at, err
}
