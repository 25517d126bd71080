// Package keyvalueentry has the resource koldun_key_value_entry: one key of a
// key-value bucket. It has no CRD, because in a cluster a Secret or ConfigMap
// does what it is for.
package keyvalueentry

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/resourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/terraform-provider/internal/clients"
	"github.com/gorizond/koldun/terraform-provider/internal/identity"
	"github.com/gorizond/koldun/terraform-provider/internal/tfresource"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// Resource is the resource.
type Resource struct{ tfresource.Base }

var (
	_ resource.ResourceWithConfigure        = (*Resource)(nil)
	_ resource.ResourceWithConfigValidators = (*Resource)(nil)
	_ resource.ResourceWithIdentity         = (*Resource)(nil)
	_ resource.ResourceWithImportState      = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan       = (*Resource)(nil)
)

// New returns the resource.
func New() resource.Resource { return &Resource{tfresource.Base{Name: "key_value_entry"}} }

type model struct {
	Bucket   types.String `tfsdk:"bucket"`
	Key      types.String `tfsdk:"key"`
	Value    types.String `tfsdk:"value"`
	ValueWO  types.String `tfsdk:"value_wo"`
	Version  types.Int64  `tfsdk:"value_wo_version"`
	Revision types.Int64  `tfsdk:"revision"`
}

func names() identity.Attributes { return identity.Of("bucket", "key") }

// Schema has two attributes for the value: plain text, and a write-only secret.
func (r *Resource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	resp.Schema = schema.Schema{
		Description: "One key of a key-value bucket, with its value as it is stored.",
		Attributes: map[string]schema.Attribute{
			"bucket": schema.StringAttribute{Required: true, PlanModifiers: replace, Description: "Name of the bucket. " + tfschema.Replaces},
			"key":    schema.StringAttribute{Required: true, PlanModifiers: replace, Description: "Key in the bucket. " + tfschema.Replaces, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}},
			"value":  schema.StringAttribute{Optional: true, Description: "Value, which plans and the state show."},
			"value_wo": schema.StringAttribute{
				Optional: true, WriteOnly: true, Sensitive: true, Description: "Secret value. It reaches neither plan nor state.",
				Validators: []validator.String{stringvalidator.AlsoRequires(path.MatchRoot("value_wo_version"))},
			},
			"value_wo_version": schema.Int64Attribute{
				Optional: true, Validators: []validator.Int64{int64validator.AlsoRequires(path.MatchRoot("value_wo"))},
				Description: "Change it to write `value_wo` again. The next apply also writes it again if another program has changed the key.",
			},
			"revision": schema.Int64Attribute{Computed: true, Description: "Revision of the value in the bucket."},
		},
	}
}

// IdentitySchema identifies the entry by bucket and key.
func (r *Resource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = names().Schema()
}

// ConfigValidators require exactly one value.
func (r *Resource) ConfigValidators(context.Context) []resource.ConfigValidator {
	return []resource.ConfigValidator{resourcevalidator.ExactlyOneOf(path.MatchRoot("value"), path.MatchRoot("value_wo"))}
}

// ModifyPlan refuses a plan if no server is configured.
func (r *Resource) ModifyPlan(_ context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if !req.Plan.Raw.IsNull() {
		r.Needs(&resp.Diagnostics, clients.NATS)
	}
}

// Create writes the entry. It refuses one that exists, unless the provider
// adopts it.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan, config model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	b := r.open(ctx, &resp.Diagnostics)
	if b == nil {
		return
	}
	_, _, err := b.GetBytes(ctx, plan.Bucket.ValueString(), plan.Key.ValueString())
	if err == nil && !r.Adopts(&resp.Diagnostics, path.Root("key"), plan.id()) {
		return
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		plan.fail(&resp.Diagnostics, "look up", err)
		return
	}
	if plan.write(ctx, b, config, &resp.Diagnostics) {
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("bucket"), plan.Bucket)...)
		resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("key"), plan.Key)...)
	}
}

// Read reads the entry, but never a secret into the state: a revision shows that
// another program has changed it.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	b := r.open(ctx, &resp.Diagnostics)
	if b == nil {
		return
	}
	// Before RemoveResource, because the framework requires an identity even then.
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("bucket"), state.Bucket)...)
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("key"), state.Key)...)
	value, revision, err := b.GetBytes(ctx, state.Bucket.ValueString(), state.Key.ValueString())
	if fault.Is(err, fault.NotFound) {
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		state.fail(&resp.Diagnostics, "read", err)
		return
	}
	if !state.Value.IsNull() {
		state.Value = types.StringValue(string(value))
	} else if state.Revision.ValueInt64() != int64(revision) {
		state.Version = types.Int64Null()
	}
	state.Revision = types.Int64Value(int64(revision))
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// Update writes the entry again.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, config model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	b := r.open(ctx, &resp.Diagnostics)
	if b != nil && plan.write(ctx, b, config, &resp.Diagnostics) {
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	}
}

// Delete removes the entry.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	b := r.open(ctx, &resp.Diagnostics)
	if b == nil {
		return
	}
	err := b.Delete(ctx, state.Bucket.ValueString(), state.Key.ValueString(), 0)
	if err != nil && !fault.Is(err, fault.NotFound) {
		state.fail(&resp.Diagnostics, "delete", err)
	}
}

// ImportState takes "bucket/key" or an identity. It does not read the value,
// which may be a secret; the next apply writes it.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	names().Import(ctx, r.Type(), req, resp)
}

func (r *Resource) open(ctx context.Context, d *diag.Diagnostics) *bus.Bus {
	if d.HasError() || !r.Connected(d) {
		return nil
	}
	b, err := r.Connections.Bus(ctx)
	if err != nil {
		d.AddError("Cannot connect", err.Error())
		return nil
	}
	return b
}

func (m *model) write(ctx context.Context, b *bus.Bus, config model, d *diag.Diagnostics) bool {
	value := m.Value.ValueString()
	if m.Value.IsNull() {
		value = config.ValueWO.ValueString()
	}
	revision, err := b.PutBytes(ctx, m.Bucket.ValueString(), m.Key.ValueString(), []byte(value), 0)
	if err != nil {
		m.fail(d, "write", err)
		return false
	}
	m.Revision = types.Int64Value(int64(revision))
	return true
}

func (m *model) id() string { return m.Bucket.ValueString() + "/" + m.Key.ValueString() }

func (m *model) fail(d *diag.Diagnostics, verb string, err error) {
	d.AddAttributeError(path.Root("key"), fmt.Sprintf("Cannot %s koldun_key_value_entry %q", verb, m.id()), err.Error())
}
