// Package identity implements resource identities and import ids: a resource is
// identified by attributes that never change, or by an id such as
// "namespace/name".
package identity

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// Attributes identify a resource. All are strings.
type Attributes struct {
	// Parts are required, in the order of the id: "NAMESPACE/NAME".
	Parts []string
	// Places are optional, and follow as a query: "NAME?bucket=BUCKET".
	Places []Place
}

// A Place is an optional attribute with its default, which may be none.
type Place struct{ Attribute, Usual string }

// Of returns Attributes without Places.
func Of(parts ...string) Attributes { return Attributes{Parts: parts} }

// All returns the names of all attributes.
func (a Attributes) All() []string {
	out := append([]string(nil), a.Parts...)
	for _, p := range a.Places {
		out = append(out, p.Attribute)
	}
	return out
}

// Schema returns the schema of the identity.
func (a Attributes) Schema() identityschema.Schema {
	attributes := map[string]identityschema.Attribute{}
	for _, id := range a.Parts {
		attributes[id] = identityschema.StringAttribute{RequiredForImport: true}
	}
	for _, p := range a.Places {
		usual := "Left out, there is none."
		if p.Usual != "" {
			usual = "Left out, it is " + p.Usual + "."
		}
		attributes[p.Attribute] = identityschema.StringAttribute{OptionalForImport: true, Description: usual}
	}
	return identityschema.Schema{Attributes: attributes}
}

// Set writes the identity. to is nil if the CLI is too old for identities.
func (a Attributes) Set(ctx context.Context, to *tfsdk.ResourceIdentity, o tfschema.Object, d *diag.Diagnostics) {
	if to == nil {
		return
	}
	for _, id := range a.All() {
		if s := o.Text(id); s != "" {
			d.Append(to.SetAttribute(ctx, path.Root(id), s)...)
		}
	}
}

// Usual sets the places that are null to their defaults.
func (a Attributes) Usual(o tfschema.Object) {
	for _, p := range a.Places {
		if v, ok := o[p.Attribute]; ok && v.IsNull() && p.Usual != "" {
			o[p.Attribute] = tftypes.NewValue(tftypes.String, p.Usual)
		}
	}
}

// Import writes the attributes of an import id or identity into the state and
// the identity, and reports whether they are valid.
func (a Attributes) Import(ctx context.Context, name string, req resource.ImportStateRequest, resp *resource.ImportStateResponse) bool {
	var values map[string]string
	if req.ID == "" && req.Identity != nil {
		values = a.read(ctx, req.Identity, &resp.Diagnostics)
	} else {
		var err error
		if values, err = a.parse(req.ID); err != nil {
			resp.Diagnostics.AddError("Cannot import "+name, err.Error())
		}
	}
	if resp.Diagnostics.HasError() {
		return false
	}
	for _, id := range a.All() {
		if values[id] == "" { // a place without a default stays null
			continue
		}
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(id), values[id])...)
		resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root(id), values[id])...)
	}
	return !resp.Diagnostics.HasError()
}

// read returns the attributes of an identity, with the defaults of the places.
func (a Attributes) read(ctx context.Context, from *tfsdk.ResourceIdentity, d *diag.Diagnostics) map[string]string {
	values := map[string]string{}
	for _, id := range a.Parts {
		var s string
		d.Append(from.GetAttribute(ctx, path.Root(id), &s)...)
		if values[id] = s; s == "" {
			d.AddError("Cannot import by an identity", "Its "+strings.Join(a.Parts, " and ")+" must not be empty.")
		}
	}
	for _, p := range a.Places {
		var s *string
		d.Append(from.GetAttribute(ctx, path.Root(p.Attribute), &s)...)
		if values[p.Attribute] = p.Usual; s != nil && *s != "" {
			values[p.Attribute] = *s
		}
	}
	return values
}
