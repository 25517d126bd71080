// Package base has what all resources and data sources of the provider have in
// common: their names, their connections, and what they say when something is
// wrong.
package base

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/connection"
	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
)

// A Base is the part of a resource that does not depend on what it manages.
// Resources embed it.
type Base struct {
	Name        string // in Terraform, without "koldun_"
	Check       *preflight.Checker
	Connections *connection.Connections // nil until Configure
}

// Type is the name of the resource in a configuration.
func (b *Base) Type() string { return "koldun_" + b.Name }

// Metadata names the resource.
func (b *Base) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = b.Type()
}

// Configure takes the provider's connections.
func (b *Base) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	b.take(req.ProviderData)
}

func (b *Base) take(data any) {
	if c, ok := data.(*connection.Connections); ok {
		b.Connections = c
	}
}

// Connected reports whether the resource has connections, and says so if not.
func (b *Base) Connected(d *diag.Diagnostics) bool {
	if b.Connections == nil {
		d.AddError("The provider is not configured", "This is a defect of the provider: please report it.")
	}
	return b.Connections != nil
}

// Needs says which systems are not configured, and how to mend it.
func (b *Base) Needs(d *diag.Diagnostics, systems ...connection.System) {
	if b.Connections == nil {
		return
	}
	for _, s := range systems {
		if m := b.Connections.Missing(s); m != "" {
			d.AddError(fmt.Sprintf("%s needs %s", b.Type(), s), m)
		}
	}
}

// Adopts reports whether a resource may take over a thing that exists, and says
// how else to do it if not. The id is the one that imports take.
func (b *Base) Adopts(d *diag.Diagnostics, at path.Path, id string) bool {
	if b.Connections.Settings.Adopt {
		return true
	}
	d.AddAttributeError(at, fmt.Sprintf("%s %q exists already", b.Type(), id),
		fmt.Sprintf("Take it over with:\n\n  terraform import %s.NAME %q\n\nor set adopt_existing = true in the provider block.", b.Type(), id))
	return false
}

// Fail reports what happened while doing something to a thing.
func (b *Base) Fail(d *diag.Diagnostics, verb string, at path.Path, id string, err error) {
	d.AddAttributeError(at, fmt.Sprintf("Cannot %s %s %q", verb, b.Type(), id), err.Error())
}

// Broken reports an error that is none of the user's.
func (b *Base) Broken(d *diag.Diagnostics, verb string, err error) {
	d.AddError(fmt.Sprintf("Cannot %s %s", verb, b.Type()), err.Error())
}

// Invalid reports findings, each at its attribute.
func (b *Base) Invalid(d *diag.Diagnostics, findings []preflight.Finding, at func(yaml string) path.Path) {
	for _, f := range findings {
		where := at(f.Path)
		if where.Equal(path.Empty()) {
			d.AddError("Invalid "+b.Type(), f.Message)
			continue
		}
		d.AddAttributeError(where, "Invalid "+b.Type(), f.Message)
	}
}

// A Source is the part of a data source that is named and connected as the
// resource is. Data sources embed it.
type Source struct{ Of *Base }

// Metadata names the data source.
func (s Source) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = s.Of.Type()
}

// Configure takes the provider's connections.
func (s Source) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	s.Of.take(req.ProviderData)
}
