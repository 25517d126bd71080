package managed

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// specPath is the path of the fields in YAML.
const specPath = "spec.forProvider"

// ValidateConfig refuses a configuration that an API server with the CRD would
// refuse, and one that an apply would fail on.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	c, err := r.crd()
	if err != nil {
		r.Broken(&resp.Diagnostics, "check", err)
		return
	}
	o, err := tfschema.Unpack(req.Config.Raw)
	if err != nil {
		r.Broken(&resp.Diagnostics, "check", err)
		return
	}
	if f := c.Spec.Child(r.kind.Digest); f != nil {
		r.Invalid(&resp.Diagnostics, r.sources(f.Attribute, o), root)
		ended(o, &resp.Diagnostics)
	}
	e, err := o.Encode(c.Spec, specPath)
	if err != nil {
		r.Broken(&resp.Diagnostics, "check", err)
		return
	}
	obj := map[string]any{"metadata": map[string]any{"name": "terraform"}, "spec": map[string]any{"forProvider": e.Value}}
	findings, err := r.Check.Check(ctx, c, obj, e.Unknown)
	if err != nil {
		r.Broken(&resp.Diagnostics, "check", err)
		return
	}
	r.Invalid(&resp.Diagnostics, append(findings, lengths(c.Spec, e.Value, specPath)...), func(yaml string) path.Path {
		return tfschema.Path(c.Spec, path.Empty(), strings.TrimPrefix(yaml, specPath))
	})
}

// ended warns of a token that expires before it is created.
func ended(o tfschema.Object, d *diag.Diagnostics) {
	const expires = "expires"
	if at, err := time.Parse(time.RFC3339, o.Text(expires)); err == nil && !at.After(time.Now()) {
		d.AddAttributeWarning(path.Root(expires), "The token has ended", "Gateways refuse it since "+o.Text(expires)+". Set a later time, or destroy the resource.")
	}
}

// lengths returns the durations that do not parse, which a schema cannot check.
func lengths(f *crd.Field, v any, at string) []preflight.Finding {
	var out []preflight.Finding
	switch x := v.(type) {
	case string:
		if _, err := time.ParseDuration(x); f.Duration && err != nil {
			out = append(out, preflight.Finding{Path: at, Message: fmt.Sprintf("%q is no duration such as 90s, 10m or 1h30m", x)})
		}
	case []any:
		for i, e := range x {
			out = append(out, lengths(f.Elem, e, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case map[string]any:
		for _, c := range f.Fields {
			if e, ok := x[c.Name]; ok {
				out = append(out, lengths(c, e, at+"."+c.Name)...)
			}
		}
	}
	return out
}
