package claim

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gorizond/koldun/terraform-provider/internal/tfresource"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
	"github.com/gorizond/koldun/terraform-provider/internal/wait"
)

// Attributes of all claims beside their spec.
const (
	attrName        = "name"
	attrNamespace   = "namespace"
	attrLabels      = "labels"
	attrAnnotations = "annotations"
	attrForce       = "force_conflicts"
	attrConfig      = "model_config"
	attrStatus      = "status"
	attrReady       = tfresource.AttrReady
	attrReason      = "reason"
	attrWait        = "wait"
)

// Schema derives the attributes from the CRD.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	c, err := r.crd()
	if err != nil {
		resp.Diagnostics.AddError("Cannot make the schema", err.Error())
		return
	}
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	// To a cluster an empty map means the same as none.
	none := mapdefault.StaticValue(types.MapValueMust(types.StringType, map[string]attr.Value{}))
	a := tfschema.ResourceAttributes(c.Spec, tfschema.Configured)
	a[attrName] = schema.StringAttribute{Required: true, PlanModifiers: replace, Description: "Name of the object: up to 63 lower-case letters, digits and dashes. " + tfschema.Replaces}
	if c.Namespaced {
		a[attrNamespace] = schema.StringAttribute{
			Optional: true, Computed: true, PlanModifiers: append([]planmodifier.String{stringplanmodifier.UseStateForUnknown()}, replace...),
			Description: "Namespace of the object. Left out, it is `kubernetes.namespace` of the provider, or `default`. " + tfschema.Replaces,
		}
	}
	a[attrLabels] = schema.MapAttribute{Optional: true, Computed: true, Default: none, ElementType: types.StringType, Description: "Labels of the object. The provider leaves others alone."}
	a[attrAnnotations] = schema.MapAttribute{Optional: true, Computed: true, Default: none, ElementType: types.StringType, Description: "Annotations of the object. The provider leaves others alone."}
	a[attrForce] = schema.BoolAttribute{Optional: true, Description: "Whether to take over fields that another program has set. Without it that is an error that names both."}
	if r.kind.Fits {
		a[attrConfig] = schema.StringAttribute{
			Optional:    true,
			Description: "The model's `config.json`, as text. It is not sent to the cluster: with it, a plan refuses numbers of nodes, quantisations and contexts that the model cannot have.",
		}
	}
	status := *c.Status
	status.Description = "Status of the object in the cluster."
	a[attrStatus] = tfschema.Computed(&status)
	a[attrReady] = schema.BoolAttribute{Computed: true, Description: "Whether the object is ready for use with the spec of the last apply. If not, the next apply continues to wait."}
	a[attrReason] = schema.StringAttribute{Computed: true, Description: "Why it is ready or not: a reason of docs/reference/reasons.md, and a message that says how to mend it."}
	a[attrWait] = wait.ClusterAttribute()
	a[tfresource.AttrTimeouts] = timeouts.Attributes(ctx, timeouts.Opts{Create: true, Update: true, Delete: true})
	resp.Schema = schema.Schema{Description: c.Description, Attributes: a}
}

// IdentitySchema identifies the object by its name, and its namespace if it has one.
func (r *Resource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = r.names().Schema()
}
