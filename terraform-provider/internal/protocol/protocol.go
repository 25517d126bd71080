// Package protocol serves a provider of terraform-plugin-framework over version 6 of
// Terraform's plugin protocol.
package protocol

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// New returns the server of a provider, which takes unknown objects in lists, sets and maps
// where the framework does not: it says of each required attribute in them that it is missing
// (gravitee-io/issues#11740 is a report of it). A module's variable makes such an element, as
// "models = [var.model]" in "terraform validate".
func New(p provider.Provider) tfprotov6.ProviderServer {
	return server{providerserver.NewProtocol6(p)()}
}

type server struct{ tfprotov6.ProviderServer }

// missing is the summary of the framework's diagnostic (internal/fwserver/attribute_validation.go).
const missing = "Missing Configuration for Required Attribute"

func (s server) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	resp, err := s.ProviderServer.ValidateResourceConfig(ctx, req)
	if err != nil || !slices.ContainsFunc(resp.Diagnostics, isMissing) {
		return resp, err
	}
	all, err := s.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return nil, err
	}
	if schema := all.ResourceSchemas[req.TypeName]; schema != nil {
		resp.Diagnostics = withoutUnknown(resp.Diagnostics, req.Config, schema.ValueType())
	}
	return resp, nil
}

func isMissing(d *tfprotov6.Diagnostic) bool { return d.Summary == missing && d.Attribute != nil }

// withoutUnknown removes what is said to be missing in values that are not known yet.
func withoutUnknown(ds []*tfprotov6.Diagnostic, config *tfprotov6.DynamicValue, of tftypes.Type) []*tfprotov6.Diagnostic {
	v, err := config.Unmarshal(of)
	if err != nil {
		return ds
	}
	return slices.DeleteFunc(ds, func(d *tfprotov6.Diagnostic) bool { return isMissing(d) && inUnknown(v, d.Attribute) })
}

// inUnknown reports whether a path leads into a value that is not known.
func inUnknown(v tftypes.Value, path *tftypes.AttributePath) bool {
	for steps := path.Steps(); len(steps) > 0; steps = steps[:len(steps)-1] {
		at, _, err := tftypes.WalkAttributePath(v, tftypes.NewAttributePathWithSteps(steps))
		if parent, ok := at.(tftypes.Value); err == nil && ok && !parent.IsKnown() {
			return true
		}
	}
	return false
}
