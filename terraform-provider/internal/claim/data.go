package claim

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/gorizond/koldun/terraform-provider/internal/tfresource"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// A DataSource reads an object that another program manages, with its whole spec
// and status.
type DataSource struct {
	tfresource.DataSource
	resource *Resource
}

var _ datasource.DataSourceWithConfigure = (*DataSource)(nil)

// DataSources returns the constructors of the data sources of all kinds.
func DataSources() []func() datasource.DataSource {
	var out []func() datasource.DataSource
	for _, k := range Kinds() {
		out = append(out, func() datasource.DataSource {
			r := &Resource{Base: tfresource.Base{Name: k.Name}, kind: k, crd: k.loadWhole}
			return &DataSource{tfresource.DataSource{Resource: &r.Base}, r}
		})
	}
	return out
}

// Schema derives the attributes from the CRD.
func (s *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	c, err := s.resource.crd()
	if err != nil {
		resp.Diagnostics.AddError("Cannot make the schema", err.Error())
		return
	}
	a := tfschema.DataAttributes(c.Spec)
	a[attrName] = schema.StringAttribute{Required: true, Description: "Name of the object."}
	if c.Namespaced {
		a[attrNamespace] = schema.StringAttribute{Optional: true, Computed: true, Description: "Namespace of the object. Left out, it is `kubernetes.namespace` of the provider, or `default`."}
	}
	status := *c.Status
	status.Description = "Status of the object in the cluster."
	a[attrStatus] = tfschema.DataAttribute(&status, false)
	a[attrReady] = schema.BoolAttribute{Computed: true, Description: "Whether the object is ready for use with its present spec."}
	a[attrReason] = schema.StringAttribute{Computed: true, Description: "Why it is ready or not."}
	resp.Schema = schema.Schema{Description: c.Description + " The data source reads an existing one.", Attributes: a}
}

// Read reads the object. A missing object is an error.
func (s *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	r := s.resource
	w, ok := r.begin(req.Config.Raw, &resp.Diagnostics)
	if !ok {
		return
	}
	if w.key.Namespace == "" && r.namespaced() {
		w.key.Namespace = r.Connections.Namespace()
		w.object.Set(attrNamespace, w.key.Namespace)
	}
	obj, err := w.kube.Get(ctx, w.of, w.key)
	if err == nil {
		spec := w.specOf(obj)
		for _, f := range w.crd.Spec.Fields {
			if w.object[f.Attribute], err = tfschema.Decode(f, spec[f.Name]); err != nil {
				break
			}
		}
	}
	if err == nil {
		o := observe(obj, obj.GetGeneration())
		resp.State.Raw, err = w.state(o.status, o.State)
	}
	if err != nil {
		r.fail(&resp.Diagnostics, "read", w, err)
	}
}
