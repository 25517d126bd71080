package ephemeral

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Entry reads the value of a key of a key-value bucket as a secret.
type Entry struct{ configured }

var _ ephemeral.EphemeralResourceWithConfigure = (*Entry)(nil)

type entryModel struct {
	Bucket types.String `tfsdk:"bucket"`
	Key    types.String `tfsdk:"key"`
	Value  types.String `tfsdk:"value"`
}

// Metadata names the ephemeral resource.
func (e *Entry) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_key_value_entry"
}

// Schema has bucket and key, and the value as the result.
func (e *Entry) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "The value of a key of a key-value bucket. It reaches neither plans nor the state.",
		Attributes: map[string]schema.Attribute{
			"bucket": schema.StringAttribute{Required: true, Description: "Name of the bucket."},
			"key":    schema.StringAttribute{Required: true, Description: "Key in the bucket."},
			"value":  schema.StringAttribute{Computed: true, Sensitive: true, Description: "The value."},
		},
	}
}

// Open reads the value.
func (e *Entry) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var m entryModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	b := e.open(ctx, &resp.Diagnostics)
	if b == nil {
		return
	}
	value, _, err := b.GetBytes(ctx, m.Bucket.ValueString(), m.Key.ValueString())
	if err != nil {
		resp.Diagnostics.AddError(fmt.Sprintf("Cannot read koldun_key_value_entry %q", m.Bucket.ValueString()+"/"+m.Key.ValueString()), err.Error())
		return
	}
	m.Value = types.StringValue(string(value))
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
}
