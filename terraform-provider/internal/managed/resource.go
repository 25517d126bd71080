package managed

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/terraform-provider/internal/clients"
	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/kube"
	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
	"github.com/gorizond/koldun/terraform-provider/internal/tfresource"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// A Resource is the Terraform resource of one kind.
type Resource struct {
	tfresource.Base
	kind Kind
	crd  func() (*crd.Kind, error)
}

var (
	_ resource.ResourceWithConfigure      = (*Resource)(nil)
	_ resource.ResourceWithIdentity       = (*Resource)(nil)
	_ resource.ResourceWithImportState    = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan     = (*Resource)(nil)
	_ resource.ResourceWithValidateConfig = (*Resource)(nil)
)

// Resources returns the constructors of all resources of managed kinds.
func Resources(check *preflight.Checker) []func() resource.Resource {
	var out []func() resource.Resource
	for _, k := range Kinds() {
		out = append(out, func() resource.Resource {
			return &Resource{Base: tfresource.Base{Name: k.Name, Check: check}, kind: k, crd: k.load}
		})
	}
	return out
}

// open opens the client of one resource.
func (r *Resource) open(ctx context.Context, o tfschema.Object, d *diag.Diagnostics) catalog.Client {
	if !r.Connected(d) {
		return nil
	}
	c, err := r.kind.entry.Open(ctx, r.Connections.Of(r.kind.Needs))
	if err == nil {
		c = client{c}
	}
	if err == nil && !o[attrWrite].IsNull() && r.kind.Connects {
		c, err = r.delivered(c, o)
	}
	if err != nil {
		d.AddError("Cannot connect", err.Error())
		return nil
	}
	return c
}

// delivered returns a client that keeps the connection in the Secret that the
// object names.
func (r *Resource) delivered(c catalog.Client, o tfschema.Object) (catalog.Client, error) {
	to, err := tfschema.Unpack(o[attrWrite])
	if err != nil {
		return nil, err
	}
	k, err := r.Connections.Kube()
	if err != nil {
		return nil, err
	}
	usual := r.Connections.Namespace()
	if r.kind.Within {
		usual = o.Text(attrNamespace)
	}
	return delivery{
		Client: c, kube: k, writer: r.Type() + "/" + r.id(o), adopt: r.Connections.Settings.Adopt,
		to: kube.Key{Namespace: cmp.Or(to.Text(attrNamespace), usual), Name: to.Text(attrName)},
	}, nil
}

// id is the import id of the resource.
func (r *Resource) id(o tfschema.Object) string { return r.kind.Identity.ID(o) }

// at is the attribute that names the external resource.
func (r *Resource) at() path.Path { return path.Root(r.kind.Identity.Parts[0]) }

// fail adds the error of an operation on the external resource.
func (r *Resource) fail(d *diag.Diagnostics, verb string, o tfschema.Object, err error) {
	if o[attrWrite].IsNull() { // otherwise the error may be one of the cluster
		err = clients.Advise(r.kind.Needs[0], err)
	}
	r.Fail(d, verb, r.at(), r.id(o), err)
}
