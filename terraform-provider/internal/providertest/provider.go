// Package providertest drives a provider by its protocol in the process of the
// test, as the Terraform CLI does: it validates, plans, applies, reads and plans
// again. It fails the test where Terraform would report that the provider
// produced an inconsistent result. It needs no CLI; package clitest runs one.
package providertest

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/protocol"
)

// A Provider is a configured provider.
type Provider struct {
	t          testing.TB
	server     tfprotov6.ProviderServer
	schema     *tfprotov6.GetProviderSchemaResponse
	identities map[string]*tfprotov6.ResourceIdentitySchema
}

// New configures a provider. config is as encoding/json decodes it.
func New(t testing.TB, tested provider.Provider, config map[string]any) *Provider {
	t.Helper()
	server := protocol.New(tested)
	p := &Provider{t: t, server: server}
	var err error
	if p.schema, err = server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{}); err != nil {
		t.Fatal(err)
	}
	p.none("get the schema", p.schema.Diagnostics)
	ids, err := server.GetResourceIdentitySchemas(t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		t.Fatal(err)
	}
	p.none("get the identity schemas", ids.Diagnostics)
	p.identities = ids.IdentitySchemas
	value := p.value(Build(t, p.schema.Provider.ValueType(), config))
	resp, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: value, TerraformVersion: "1.14.0"})
	if err != nil {
		t.Fatal(err)
	}
	p.none("configure", resp.Diagnostics)
	return p
}

// Schema returns the schemas of the provider.
func (p *Provider) Schema() *tfprotov6.GetProviderSchemaResponse { return p.schema }

// Call runs a function, and returns its result and its error. args are as
// encoding/json decodes them.
func (p *Provider) Call(name string, args ...any) (tftypes.Value, string) {
	p.t.Helper()
	f, ok := p.schema.Functions[name]
	if !ok {
		p.t.Fatalf("there is no function %q", name)
	}
	var values []*tfprotov6.DynamicValue
	for i, a := range args {
		parameter := f.VariadicParameter
		if i < len(f.Parameters) {
			parameter = f.Parameters[i]
		}
		d, err := tfprotov6.NewDynamicValue(parameter.Type, Build(p.t, parameter.Type, a))
		if err != nil {
			p.t.Fatal(err)
		}
		values = append(values, &d)
	}
	resp, err := p.server.CallFunction(p.t.Context(), &tfprotov6.CallFunctionRequest{Name: name, Arguments: values})
	if err != nil {
		p.t.Fatal(err)
	}
	if resp.Error != nil {
		return tftypes.Value{}, resp.Error.Text
	}
	v, err := resp.Result.Unmarshal(f.Return.Type)
	if err != nil {
		p.t.Fatal(err)
	}
	return v, ""
}

func (p *Provider) value(v tftypes.Value) *tfprotov6.DynamicValue {
	p.t.Helper()
	d, err := tfprotov6.NewDynamicValue(v.Type(), v)
	if err != nil {
		p.t.Fatal(err)
	}
	return &d
}

// none fails the test if the diagnostics have an error.
func (p *Provider) none(verb string, ds []*tfprotov6.Diagnostic) {
	p.t.Helper()
	if e := Errors(ds); e != "" {
		p.t.Fatalf("cannot %s: %s", verb, e)
	}
}

// Errors joins the errors of diagnostics, with their attributes.
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

// Context returns the context of the test.
func (p *Provider) Context() context.Context { return p.t.Context() }

// Data reads a data source, and returns its attributes and the errors.
func (p *Provider) Data(name string, config map[string]any) (map[string]any, string) {
	p.t.Helper()
	s, ok := p.schema.DataSourceSchemas[name]
	if !ok {
		p.t.Fatalf("there is no data source %q", name)
	}
	resp, err := p.server.ReadDataSource(p.Context(), &tfprotov6.ReadDataSourceRequest{TypeName: name, Config: p.value(Build(p.t, s.ValueType(), config))})
	if err != nil {
		p.t.Fatal(err)
	}
	if e := Errors(resp.Diagnostics); e != "" {
		return nil, e
	}
	v, err := resp.State.Unmarshal(s.ValueType())
	if err != nil {
		p.t.Fatal(err)
	}
	m, _ := JSON(v).(map[string]any)
	return m, ""
}
