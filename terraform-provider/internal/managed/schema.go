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

// Attributes that all resources have beside those of their CRD.
const (
	attrName   = "name"
	attrSecret = "secret_wo"
	attrWrite  = "write_secret_to"
	attrRotate = "rotate_after"
	attrStatus = "status"
	attrReady  = tfresource.AttrReady
	attrWait   = "wait"
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
			Description: "Name by which it is kept apart from others. " + tfschema.Replaces,
		}
	}
	if f := c.Spec.Child(r.kind.Digest); f != nil {
		attributes[attrSecret] = schema.StringAttribute{
			Optional: true, WriteOnly: true, Sensitive: true, Validators: []validator.String{stringvalidator.LengthBetween(16, 4096)},
			Description: "The secret itself, 16 to 4096 bytes. It reaches neither state nor plan: only its SHA-256 does, and a new secret is noticed by that. " +
				"Give an ephemeral value, such as that of an ephemeral resource or variable.",
		}
		attributes[f.Attribute] = schema.StringAttribute{
			Optional: true, Computed: true, Description: f.Description + " Left out, it is that of `" + attrSecret + "`, or of the one that is made for `" + attrWrite + "`.",
		}
	}
	if r.kind.Connects {
		attributes[attrWrite] = writeAttribute(r.kind.Digest != "")
	}
	status := *c.Status
	status.Description = "What is outside."
	attributes[attrStatus] = tfschema.Computed(&status)
	attributes[attrReady] = schema.BoolAttribute{
		Computed:    true,
		Description: "Whether the thing is as configured and can be used. If not, the next apply goes on where this one ended.",
	}
	attributes[attrWait] = wait.Attribute()
	attributes[tfresource.AttrTimeouts] = timeouts.Attributes(ctx, timeouts.Opts{Create: true, Update: true, Delete: true})
	resp.Schema = schema.Schema{Description: strings.TrimSpace(c.Description + " " + r.kind.About), Attributes: attributes}
}

// writeAttribute names a Secret, as writeConnectionSecretToRef does in YAML.
func writeAttribute(generated bool) schema.Attribute {
	what := "Secret of the cluster that gets what a workload needs to connect, by the names of environment variables. "
	if generated {
		what = "Secret of the cluster that gets the secret, which is made here, under the key `token`. "
	}
	return schema.SingleNestedAttribute{
		Optional: true,
		Description: what + "It reaches neither state nor plan. The Secret is written anew when somebody changes or deletes it, and is deleted with the resource. " +
			"One that exists and was not written by this resource is refused.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{Required: true, Validators: []validator.String{stringvalidator.LengthBetween(1, 253)}, Description: "Name of the Secret."},
			"namespace": schema.StringAttribute{
				Optional: true, Validators: []validator.String{stringvalidator.LengthBetween(1, 63)},
				Description: "Namespace of the Secret. Left out, it is `kubernetes.namespace` of the provider, or `default`.",
			},
		},
	}
}

// IdentitySchema names the thing by the attributes that never change.
func (r *Resource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = r.kind.Identity.Schema()
}
