// Package identity names resources: by attributes that never change, and by
// ids such as "namespace/name" that a person would type.
package identity

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/gorizond/koldun/terraform-provider/internal/face"
)

// Attributes name a resource, in the order of its id.
type Attributes []string

// Schema is the schema of the identity.
func (a Attributes) Schema() identityschema.Schema {
	attributes := map[string]identityschema.Attribute{}
	for _, id := range a {
		attributes[id] = identityschema.StringAttribute{RequiredForImport: true}
	}
	return identityschema.Schema{Attributes: attributes}
}

// ID is the id of a resource.
func (a Attributes) ID(o face.Object) string {
	parts := make([]string, 0, len(a))
	for _, id := range a {
		parts = append(parts, o.Text(id))
	}
	return strings.Join(parts, "/")
}

// Set writes the identity. There is none to write to if the Terraform command
// is too old for it.
func (a Attributes) Set(ctx context.Context, to *tfsdk.ResourceIdentity, o face.Object, d *diag.Diagnostics) {
	if to == nil {
		return
	}
	for _, id := range a {
		if s := o.Text(id); s != "" {
			d.Append(to.SetAttribute(ctx, path.Root(id), s)...)
		}
	}
}

// Import reads what somebody wants to import, an id or an identity, into the
// state and the identity.
func (a Attributes) Import(ctx context.Context, name string, req resource.ImportStateRequest, resp *resource.ImportStateResponse) ([]string, bool) {
	parts := strings.SplitN(req.ID, "/", len(a))
	if req.ID == "" && req.Identity != nil {
		parts = make([]string, len(a))
		for i, id := range a {
			resp.Diagnostics.Append(req.Identity.GetAttribute(ctx, path.Root(id), &parts[i])...)
		}
	}
	for _, p := range parts {
		if p == "" || len(parts) != len(a) {
			resp.Diagnostics.AddError("Cannot import "+name, fmt.Sprintf("The id %q is not of the form %s.", req.ID, strings.ToUpper(strings.Join(a, "/"))))
			return nil, false
		}
	}
	for i, id := range a {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(id), parts[i])...)
		resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root(id), parts[i])...)
	}
	return parts, !resp.Diagnostics.HasError()
}
