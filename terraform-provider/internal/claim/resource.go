package claim

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/identity"
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

// Resources returns the constructors of all resources of claims.
func Resources(check *preflight.Checker) []func() resource.Resource {
	var out []func() resource.Resource
	for _, k := range Kinds() {
		out = append(out, func() resource.Resource {
			return &Resource{Base: tfresource.Base{Name: k.Name, Check: check}, kind: k, crd: k.load}
		})
	}
	return out
}

// namespaced reports whether objects of the kind have a namespace. A CRD that cannot be
// read is an error of Schema.
func (r *Resource) namespaced() bool {
	c, err := r.crd()
	return err != nil || c.Namespaced
}

func (r *Resource) names() identity.Attributes {
	if !r.namespaced() {
		return identity.Of(attrName)
	}
	return identity.Of(attrNamespace, attrName)
}

// A work is one operation on one resource.
type work struct {
	crd    *crd.Kind
	typ    tftypes.Type
	object tfschema.Object
	// planned is the status in the plan; its type is nil if there is no plan.
	planned tftypes.Value
	of      kube.Resource
	key     kube.Key
	kube    *kube.Client
}

func (r *Resource) begin(raw tftypes.Value, d *diag.Diagnostics) (*work, bool) {
	if d.HasError() || !r.Connected(d) {
		return nil, false
	}
	c, err := r.crd()
	if err != nil {
		r.Broken(d, "read", err)
		return nil, false
	}
	w := &work{crd: c, typ: raw.Type(), of: resourceOf(c)}
	if w.object, err = tfschema.Unpack(raw); err != nil {
		r.Broken(d, "read", err)
		return nil, false
	}
	w.key = kube.Key{Namespace: w.object.Text(attrNamespace), Name: w.object.Text(attrName)}
	if w.kube, err = r.Connections.Kube(); err != nil {
		d.AddError("Cannot connect", err.Error())
		return nil, false
	}
	return w, true
}

// fail adds an error of an operation on the object.
func (r *Resource) fail(d *diag.Diagnostics, verb string, w *work, err error) {
	r.Fail(d, verb, path.Root(attrName), w.key.String(), err)
}
