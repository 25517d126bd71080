// Package identity names resources: by attributes that never change, and by
// ids such as "namespace/name" that a person would type.
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

// Attributes name a resource. All of them are strings.
type Attributes struct {
	// Parts are in every id, in this order: "NAMESPACE/NAME".
	Parts []string
	// Places say where the thing is, if not where such things usually are:
	// "NAME?bucket=BUCKET". Ids and identities may leave them out.
	Places []Place
}

// A Place is an attribute with the value that it has unless told otherwise.
type Place struct{ Attribute, Usual string }

// Of are the attributes of an id that has nothing but parts.
func Of(parts ...string) Attributes { return Attributes{Parts: parts} }

// All are the names of the attributes.
func (a Attributes) All() []string {
	out := append([]string(nil), a.Parts...)
	for _, p := range a.Places {
		out = append(out, p.Attribute)
	}
	return out
}

// Schema is the schema of the identity.
func (a Attributes) Schema() identityschema.Schema {
	attributes := map[string]identityschema.Attribute{}
	for _, id := range a.Parts {
		attributes[id] = identityschema.StringAttribute{RequiredForImport: true}
	}
	for _, p := range a.Places {
		attributes[p.Attribute] = identityschema.StringAttribute{OptionalForImport: true, Description: "Left out, it is " + p.Usual + "."}
	}
	return identityschema.Schema{Attributes: attributes}
}

// Set writes the identity. There is none to write to if the Terraform command
// is too old for it.
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

// Usual fills in the places that an object leaves out.
func (a Attributes) Usual(o tfschema.Object) {
	for _, p := range a.Places {
		if v, ok := o[p.Attribute]; ok && v.IsNull() {
			o[p.Attribute] = tftypes.NewValue(tftypes.String, p.Usual)
		}
	}
}

// Import reads what somebody wants to import, an id or an identity, into the
// state and the identity, and reports whether it could.
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
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(id), values[id])...)
		resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root(id), values[id])...)
	}
	return !resp.Diagnostics.HasError()
}

// read an identity. What it leaves out is as usual.
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
