package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gorizond/koldun/terraform-provider/internal/provider"
)

// BenchmarkSchema asks a new provider for its schemas, as each command of
// Terraform does.
func BenchmarkSchema(b *testing.B) {
	for b.Loop() {
		p := provider.New("dev", func(string) string { return "" })
		resp, err := providerserver.NewProtocol6(p)().GetProviderSchema(b.Context(), &tfprotov6.GetProviderSchemaRequest{})
		if err != nil || len(resp.Diagnostics) > 0 || len(resp.ResourceSchemas) == 0 {
			b.Fatal(err, resp)
		}
	}
}
