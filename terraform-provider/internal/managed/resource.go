package managed

import (
	"context"
	"fmt"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/connection"
	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/face"
	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
)

// A Resource is the Terraform resource of one kind.
type Resource struct {
	kind        Kind
	crd         func() (*crd.Kind, error)
	check       *preflight.Checker
	connections *connection.Connections
}

var (
	_ resource.ResourceWithConfigure      = (*Resource)(nil)
	_ resource.ResourceWithIdentity       = (*Resource)(nil)
	_ resource.ResourceWithImportState    = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan     = (*Resource)(nil)
	_ resource.ResourceWithValidateConfig = (*Resource)(nil)
)

// Resources are the constructors of all resources of outside things.
func Resources(check *preflight.Checker) []func() resource.Resource {
	var out []func() resource.Resource
	for _, k := range Kinds() {
		load := sync.OnceValues(k.load)
		out = append(out, func() resource.Resource { return &Resource{kind: k, crd: load, check: check} })
	}
	return out
}

// Metadata names the resource.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + r.kind.Name
}

// Configure takes the provider's connections.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	if c, ok := req.ProviderData.(*connection.Connections); ok {
		r.connections = c
	}
}

// open connects to what the kind needs.
func (r *Resource) open(ctx context.Context, d *diag.Diagnostics) Thing {
	if r.connections == nil {
		d.AddError("The provider is not configured", "This is a defect of the provider: please report it.")
		return nil
	}
	t, err := r.kind.open(ctx, r.connections)
	if err != nil {
		d.AddError("Cannot connect", err.Error())
		return nil
	}
	return t
}

// name is what people know the thing by: the import id.
func (r *Resource) name(o face.Object) string { return r.kind.Identity.ID(o) }

// fail reports what happened while doing something to the thing.
func (r *Resource) fail(d *diag.Diagnostics, verb string, o face.Object, err error) {
	d.AddAttributeError(path.Root(r.kind.Identity[0]), fmt.Sprintf("Cannot %s koldun_%s %q", verb, r.kind.Name, r.name(o)), err.Error())
}
