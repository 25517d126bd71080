// Package ephemeral holds the ephemeral resources of the provider: secrets that
// exist during one run and reach neither plans nor the state.
package ephemeral

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// Resources returns the constructors of all ephemeral resources.
func Resources() []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{
		func() ephemeral.EphemeralResource { return &Token{} },
		func() ephemeral.EphemeralResource { return &Entry{} },
	}
}

// life is how long a token is valid unless it is renewed.
const life = 15 * time.Minute

// owner is the owner of ephemeral tokens in the registry.
const owner = "terraform-run"

// private is the key of the digest in the private data between Open and Close.
const private = "sha256"

// Token is an API token that is valid during one run.
type Token struct{ configured }

var (
	_ ephemeral.EphemeralResourceWithConfigure = (*Token)(nil)
	_ ephemeral.EphemeralResourceWithRenew     = (*Token)(nil)
	_ ephemeral.EphemeralResourceWithClose     = (*Token)(nil)
)

type tokenModel struct {
	Namespace types.String `tfsdk:"namespace"`
	Models    []string     `tfsdk:"models"`
	Token     types.String `tfsdk:"token"`
	SHA256    types.String `tfsdk:"sha256"`
}

// Metadata names the ephemeral resource.
func (t *Token) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_token"
}

// Schema has the token as the result.
func (t *Token) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "An API token that is valid during one run of Terraform: created at its start, renewed, and deleted at its end. " +
			"If the run is killed, the token expires after 15 minutes.",
		Attributes: map[string]schema.Attribute{
			"namespace": schema.StringAttribute{Optional: true, Description: "Namespace of the token."},
			"models":    schema.ListAttribute{Optional: true, ElementType: types.StringType, Description: "Models that it may use: `namespace/name` or `namespace/*`. Left out, all."},
			"token":     schema.StringAttribute{Computed: true, Sensitive: true, Description: "The token."},
			"sha256":    schema.StringAttribute{Computed: true, Description: "SHA-256 of the token, in hex."},
		},
	}
}

// Open creates a token.
func (t *Token) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var m tokenModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	b := t.open(ctx, &resp.Diagnostics)
	if b == nil {
		return
	}
	secret := "koldun-" + rand.Text()
	digest := token.Digest(secret)
	now := time.Now()
	record := registry.Token{SHA256: digest, Namespace: m.Namespace.ValueString(), Models: m.Models, Created: now, Expires: now.Add(life).UTC()}
	if err := records(digest).Write(ctx, b, record); err != nil {
		resp.Diagnostics.AddError("Cannot make a token", err.Error())
		return
	}
	m.Token, m.SHA256 = types.StringValue(secret), types.StringValue(digest)
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, private, []byte(`"`+digest+`"`))...)
	resp.RenewAt = now.Add(life / 2)
}

// Renew extends the token.
func (t *Token) Renew(ctx context.Context, req ephemeral.RenewRequest, resp *ephemeral.RenewResponse) {
	digest := unquote(req.Private.GetKey(ctx, private))
	b := t.open(ctx, &resp.Diagnostics)
	if b == nil {
		return
	}
	mine, _, err := records(digest).List(ctx, b)
	if record, ok := mine[digest]; err == nil && ok {
		record.Expires = time.Now().Add(life).UTC()
		err = records(digest).Write(ctx, b, record)
	}
	if err != nil {
		resp.Diagnostics.AddError("Cannot renew a token", err.Error())
		return
	}
	resp.RenewAt = time.Now().Add(life / 2)
}

// Close deletes the token.
func (t *Token) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	digest := unquote(req.Private.GetKey(ctx, private))
	b := t.open(ctx, &resp.Diagnostics)
	if b == nil {
		return
	}
	if err := records(digest).Remove(ctx, b, digest); err != nil {
		resp.Diagnostics.AddError("Cannot end a token", err.Error())
	}
}

// records returns the records of one token only, because several runs may be
// active at once.
func records(digest string) token.Records {
	return token.Records{Owner: owner + "/" + digest[:min(16, len(digest))]}
}

func unquote(raw []byte, _ diag.Diagnostics) string {
	if len(raw) < 2 {
		return ""
	}
	return string(raw[1 : len(raw)-1])
}
