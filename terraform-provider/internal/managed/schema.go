package managed

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/gorizond/koldun/terraform-provider/internal/tfresource"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
	"github.com/gorizond/koldun/terraform-provider/internal/wait"
)

// Attributes of every resource, in addition to those of its CRD.
const (
	attrName      = "name"
	attrNamespace = "namespace"
	attrSecret    = "secret_wo"
	attrWrite     = "write_secret_to"
	attrRotate    = "rotate_after"
	attrStatus    = "status"
	attrReady     = tfresource.AttrReady
	attrWait      = "wait"
)

// Schema derives the attributes from the CRD.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	c, err := r.crd()
	if err != nil {
		resp.Diagnostics.AddError("Cannot make the schema", err.Error())
		return
	}
	attributes := tfschema.ResourceAttributes(c.Spec, tfschema.Whole, r.kind.Identity.All()...)
	if r.kind.Owner {
		attributes[attrName] = schema.StringAttribute{
			Required: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}, Validators: []validator.String{stringvalidator.LengthBetween(1, 253)},
			Description: "Name of the resource, unique among resources of its kind. " + tfschema.Replaces,
		}
	}
	if r.kind.Within {
		attributes[attrNamespace] = schema.StringAttribute{
			Required: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}, Validators: []validator.String{stringvalidator.LengthBetween(1, 63)},
			Description: "Namespace of the account, and of the Secret unless that names another one. " + tfschema.Replaces,
		}
	}
	if f := c.Spec.Child(r.kind.Digest); f != nil {
		attributes[attrSecret] = schema.StringAttribute{
			Optional: true, WriteOnly: true, Sensitive: true, Validators: []validator.String{stringvalidator.LengthBetween(16, 4096)},
			Description: "The secret, 16 to 4096 bytes. State and plan never hold it: they hold its SHA-256, which shows a change. " +
				"Set it from an ephemeral value, such as an ephemeral resource or variable.",
		}
		attributes[f.Attribute] = schema.StringAttribute{
			Optional: true, Computed: true, Description: f.Description + " Defaults to the hash of `" + attrSecret + "`, or of the secret generated for `" + attrWrite + "`.",
		}
	}
	if r.kind.Connects {
		attributes[attrWrite] = r.kind.writeAttribute()
	}
	status := *c.Status
	status.Description = "Observed state of the external resource."
	attributes[attrStatus] = tfschema.Computed(&status)
	attributes[attrReady] = schema.BoolAttribute{
		Computed:    true,
		Description: "Whether the external resource matches its configuration and is usable. If not, the next apply continues where this one ended.",
	}
	attributes[attrWait] = wait.Attribute()
	attributes[tfresource.AttrTimeouts] = timeouts.Attributes(ctx, timeouts.Opts{Create: true, Update: true, Delete: true})
	resp.Schema = schema.Schema{Description: strings.TrimSpace(c.Description + " " + r.kind.About), Attributes: attributes}
}

// writeAttribute returns the attribute that names the Secret to write, as
// writeConnectionSecretToRef does in YAML.
func (k Kind) writeAttribute() schema.Attribute {
	what, usual := "Kubernetes Secret to write the connection details of a workload to, with the names of environment variables as keys. ", "`kubernetes.namespace` of the provider, or `default`"
	switch {
	case k.Digest != "":
		what = "Kubernetes Secret to write a generated secret to, under the key `token`. "
	case k.Within:
		what, usual = "Kubernetes Secret to write the credentials file of each user to, under the key `NAME.creds`, beside `NATS_URL` and `NATS_CA`. ", "`namespace`"
	}
	return schema.SingleNestedAttribute{
		Optional: !k.Written, Required: k.Written,
		Description: what + "State and plan never hold its contents. The next apply rewrites a changed or deleted Secret; destroying the resource deletes it. " +
			"An existing Secret of another writer is an error.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{Required: true, Validators: []validator.String{stringvalidator.LengthBetween(1, 253)}, Description: "Name of the Secret."},
			"namespace": schema.StringAttribute{
				Optional: true, Validators: []validator.String{stringvalidator.LengthBetween(1, 63)},
				Description: "Namespace of the Secret. Defaults to " + usual + ".",
			},
		},
	}
}

// IdentitySchema returns the immutable attributes that identify the external resource.
func (r *Resource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = r.kind.Identity.Schema()
}
