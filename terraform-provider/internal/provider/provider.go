// Package provider assembles the Terraform provider of Koldun: its settings, and
// the resources, data sources, ephemeral resources and functions of the packages
// beside it. Start reading here.
//
//	crd            reads the CRDs, from which all schemas are derived
//	tfschema       derives schemas and converts values
//	tfresource     what all resources have in common
//	claim          resources of objects in a cluster: Dllama, Model, Ingress, ...
//	managed        resources of objects in NATS, S3 and the registry
//	keyvalueentry  resource of one key of a key-value bucket
//	ephemeral      tokens and secrets that exist during one run
//	function       functions, which need no connection
//	clients        connections to NATS, S3 and Kubernetes, opened on first use
//	preflight      validation before anything is sent
//	identity       import ids and identities
//	wait           waiting until an object is ready
//	kube           objects in a cluster
//	schemajson     exports the schemas for the documentation
//	providertest   drives a provider by its protocol, in tests
//	clitest        drives it by OpenTofu and Terraform, in tests
package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/claim"
	"github.com/gorizond/koldun/terraform-provider/internal/clients"
	koldunephemeral "github.com/gorizond/koldun/terraform-provider/internal/ephemeral"
	koldunfunction "github.com/gorizond/koldun/terraform-provider/internal/function"
	"github.com/gorizond/koldun/terraform-provider/internal/keyvalueentry"
	"github.com/gorizond/koldun/terraform-provider/internal/managed"
	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
)

// Provider is the provider. The caller of New must close it.
type Provider struct {
	version string
	getenv  func(string) string
	check   *preflight.Checker

	connections *clients.Connections
}

var (
	_ provider.ProviderWithFunctions          = (*Provider)(nil)
	_ provider.ProviderWithEphemeralResources = (*Provider)(nil)
)

// New returns a provider. getenv looks up the environment variables that the
// settings fall back to.
func New(version string, getenv func(string) string) *Provider {
	return &Provider{version: version, getenv: getenv, check: preflight.New()}
}

// Close closes the connections.
func (p *Provider) Close() {
	if p.connections != nil {
		p.connections.Close()
	}
}

// Metadata names the provider.
func (p *Provider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "koldun", p.version
}

// Configure reads the settings. It opens no connection.
func (p *Provider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	s := read(ctx, req.Config, p.getenv, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	p.Close()
	p.connections = clients.New(s)
	resp.ResourceData, resp.DataSourceData, resp.EphemeralResourceData = p.connections, p.connections, p.connections
}

// Resources returns the resources of managed kinds and of claims.
func (p *Provider) Resources(context.Context) []func() resource.Resource {
	return append(append(managed.Resources(p.check), claim.Resources(p.check)...), keyvalueentry.New)
}

// DataSources are the twins of the resources.
func (p *Provider) DataSources(context.Context) []func() datasource.DataSource {
	return append(managed.DataSources(), claim.DataSources()...)
}

// Functions are pure.
func (p *Provider) Functions(context.Context) []func() function.Function {
	return koldunfunction.Functions(p.check)
}

// EphemeralResources are secrets of one run.
func (p *Provider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return koldunephemeral.Resources()
}
