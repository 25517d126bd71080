// Package rig drives a provider over its protocol, in process, as the
// Terraform command does: it validates, plans, applies, reads and plans again,
// and fails a test wherever Terraform would call the provider inconsistent.
package rig

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// A Rig is a configured provider.
type Rig struct {
	t          testing.TB
	server     tfprotov6.ProviderServer
	schema     *tfprotov6.GetProviderSchemaResponse
	identities map[string]*tfprotov6.ResourceIdentitySchema
}

// New configures a provider. The configuration is as JSON decodes it.
func New(t testing.TB, p provider.Provider, config map[string]any) *Rig {
	t.Helper()
	server := providerserver.NewProtocol6(p)()
	r := &Rig{t: t, server: server}
	var err error
	if r.schema, err = server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{}); err != nil {
		t.Fatal(err)
	}
	r.none("get the schema", r.schema.Diagnostics)
	ids, err := server.GetResourceIdentitySchemas(t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		t.Fatal(err)
	}
	r.none("get the identity schemas", ids.Diagnostics)
	r.identities = ids.IdentitySchemas
	value := r.value(Build(t, r.schema.Provider.ValueType(), config))
	resp, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: value, TerraformVersion: "1.14.0"})
	if err != nil {
		t.Fatal(err)
	}
	r.none("configure", resp.Diagnostics)
	return r
}

// Schema is what the provider offers.
func (r *Rig) Schema() *tfprotov6.GetProviderSchemaResponse { return r.schema }

// Call runs a function. Its arguments are as JSON decodes them.
func (r *Rig) Call(name string, args ...any) (tftypes.Value, string) {
	r.t.Helper()
	f, ok := r.schema.Functions[name]
	if !ok {
		r.t.Fatalf("there is no function %q", name)
	}
	var values []*tfprotov6.DynamicValue
	for i, a := range args {
		p := f.VariadicParameter
		if i < len(f.Parameters) {
			p = f.Parameters[i]
		}
		d, err := tfprotov6.NewDynamicValue(p.Type, Build(r.t, p.Type, a))
		if err != nil {
			r.t.Fatal(err)
		}
		values = append(values, &d)
	}
	resp, err := r.server.CallFunction(r.t.Context(), &tfprotov6.CallFunctionRequest{Name: name, Arguments: values})
	if err != nil {
		r.t.Fatal(err)
	}
	if resp.Error != nil {
		return tftypes.Value{}, resp.Error.Text
	}
	v, err := resp.Result.Unmarshal(f.Return.Type)
	if err != nil {
		r.t.Fatal(err)
	}
	return v, ""
}

func (r *Rig) value(v tftypes.Value) *tfprotov6.DynamicValue {
	r.t.Helper()
	d, err := tfprotov6.NewDynamicValue(v.Type(), v)
	if err != nil {
		r.t.Fatal(err)
	}
	return &d
}

// none fails the test if there is an error among the diagnostics.
func (r *Rig) none(verb string, ds []*tfprotov6.Diagnostic) {
	r.t.Helper()
	if e := Errors(ds); e != "" {
		r.t.Fatalf("cannot %s: %s", verb, e)
	}
}

// Errors joins the errors of diagnostics, with the attributes they are about.
func Errors(ds []*tfprotov6.Diagnostic) string { return join(ds, tfprotov6.DiagnosticSeverityError) }

// Warnings joins the warnings.
func Warnings(ds []*tfprotov6.Diagnostic) string {
	return join(ds, tfprotov6.DiagnosticSeverityWarning)
}

func join(ds []*tfprotov6.Diagnostic, s tfprotov6.DiagnosticSeverity) string {
	var out []string
	for _, d := range ds {
		if d.Severity == s {
			out = append(out, d.Attribute.String()+": "+d.Summary+": "+d.Detail)
		}
	}
	return strings.Join(out, "\n")
}

// Context is the test's.
func (r *Rig) Context() context.Context { return r.t.Context() }

// Data reads a data source, and returns its attributes and the errors.
func (r *Rig) Data(name string, config map[string]any) (map[string]any, string) {
	r.t.Helper()
	s, ok := r.schema.DataSourceSchemas[name]
	if !ok {
		r.t.Fatalf("there is no data source %q", name)
	}
	resp, err := r.server.ReadDataSource(r.Context(), &tfprotov6.ReadDataSourceRequest{TypeName: name, Config: r.value(Build(r.t, s.ValueType(), config))})
	if err != nil {
		r.t.Fatal(err)
	}
	if e := Errors(resp.Diagnostics); e != "" {
		return nil, e
	}
	v, err := resp.State.Unmarshal(s.ValueType())
	if err != nil {
		r.t.Fatal(err)
	}
	m, _ := JSON(v).(map[string]any)
	return m, ""
}
