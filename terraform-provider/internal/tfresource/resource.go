// Package tfresource holds what all resources and data sources of the provider
// have in common: their names, their connections, their diagnostics, and how
// they modify plans. Package claim and package managed build resources on it.
package tfresource

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/clients"
	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
)

// A Base is the part of a resource that does not depend on its kind. Resources
// embed it.
type Base struct {
	Name        string // in Terraform, without "koldun_"
	Check       *preflight.Checker
	Connections *clients.Connections // nil until Configure
}

// Type is the name of the resource in a configuration.
func (b *Base) Type() string { return "koldun_" + b.Name }

// Metadata names the resource.
func (b *Base) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = b.Type()
}

// Configure takes the provider's connections.
func (b *Base) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	b.configure(req.ProviderData)
}

func (b *Base) configure(data any) {
	if c, ok := data.(*clients.Connections); ok {
		b.Connections = c
	}
}

// Connected reports whether the resource has connections, and adds an error if
// it has none.
func (b *Base) Connected(d *diag.Diagnostics) bool {
	if b.Connections == nil {
		d.AddError("The provider is not configured", "This is a defect of the provider: please report it.")
	}
	return b.Connections != nil
}

// Needs adds an error for each system that is not configured.
func (b *Base) Needs(d *diag.Diagnostics, systems ...clients.System) {
	if b.Connections == nil {
		return
	}
	for _, s := range systems {
		if m := b.Connections.Missing(s); m != "" {
			d.AddError(fmt.Sprintf("%s needs %s", b.Type(), s), m)
		}
	}
}

// Adopts reports whether the resource may take over an object that exists. If
// not, it adds an error that says how to import the object; id is the import id.
func (b *Base) Adopts(d *diag.Diagnostics, at path.Path, id string) bool {
	if b.Connections.Settings.Adopt {
		return true
	}
	d.AddAttributeError(at, fmt.Sprintf("%s %q exists already", b.Type(), id),
		fmt.Sprintf("Take it over with:\n\n  terraform import %s.NAME %q\n\nor set adopt_existing = true in the provider block.", b.Type(), id))
	return false
}

// Fail adds an error of an operation on one object.
func (b *Base) Fail(d *diag.Diagnostics, verb string, at path.Path, id string, err error) {
	d.AddAttributeError(at, fmt.Sprintf("Cannot %s %s %q", verb, b.Type(), id), err.Error())
}

// Broken adds an error that the user did not cause.
func (b *Base) Broken(d *diag.Diagnostics, verb string, err error) {
	d.AddError(fmt.Sprintf("Cannot %s %s", verb, b.Type()), err.Error())
}

// Invalid adds an error for each finding, at its attribute. at translates the
// YAML path of a finding.
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

// A DataSource has the name and the connections of a resource. Data sources
// embed it.
type DataSource struct{ Resource *Base }

// Metadata names the data source.
func (s DataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = s.Resource.Type()
}

// Configure takes the provider's connections.
func (s DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	s.Resource.configure(req.ProviderData)
}
