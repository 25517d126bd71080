package managed

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/terraform-provider/internal/tfresource"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// A DataSource reads an external resource that this configuration does not manage.
type DataSource struct {
	tfresource.DataSource
	resource *Resource
}

var _ datasource.DataSourceWithConfigure = (*DataSource)(nil)

// DataSources returns the constructors of the data sources of all kinds but those that
// nothing can be read of.
func DataSources() []func() datasource.DataSource {
	var out []func() datasource.DataSource
	for _, k := range Kinds() {
		if k.Unseen {
			continue
		}
		out = append(out, func() datasource.DataSource {
			r := &Resource{Base: tfresource.Base{Name: k.Name}, kind: k, crd: k.load}
			return &DataSource{tfresource.DataSource{Resource: &r.Base}, r}
		})
	}
	return out
}

// Schema returns the attributes of the resource, computed except for its identity.
func (s *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	c, err := s.resource.crd()
	if err != nil {
		resp.Diagnostics.AddError("Cannot make the schema", err.Error())
		return
	}
	attributes := tfschema.DataAttributes(c.Spec, s.resource.kind.Identity.Parts...)
	for _, p := range s.resource.kind.Identity.Places {
		attributes[p.Attribute] = schema.StringAttribute{Optional: true, Computed: true, Description: tfschema.Describe(c.Spec.ByAttribute(p.Attribute))}
	}
	if s.resource.kind.Owner {
		attributes[attrName] = schema.StringAttribute{Required: true, Description: "Name of the resource in Terraform."}
	}
	status := *c.Status
	status.Description = "Observed state of the external resource."
	attributes[attrStatus] = tfschema.DataAttribute(&status, false)
	attributes[attrReady] = schema.BoolAttribute{Computed: true, Description: "Whether the external resource is usable."}
	resp.Schema = schema.Schema{Description: c.Description + " The data source reads an existing one.", Attributes: attributes}
}

// Read observes the external resource. It is an error if none exists.
func (s *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	r := s.resource
	w, ok := r.begin(ctx, req.Config.Raw, &resp.Diagnostics)
	if !ok {
		return
	}
	r.kind.Identity.Usual(w.object)
	o, err := w.read(ctx, true)
	if err == nil {
		resp.State.Raw, err = w.state(o)
	}
	if fault.Is(err, fault.NotFound) {
		err = fmt.Errorf("it does not exist: %w", err)
	}
	if err != nil {
		r.fail(&resp.Diagnostics, "read", w.object, err)
	}
}
