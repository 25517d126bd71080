package clitest

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/protocol"
	"github.com/gorizond/koldun/terraform-provider/internal/provider"
)

// Test runs steps of terraform-plugin-testing with the program, and with the
// provider in this process. getenv is the provider's environment. It changes
// the environment of the process, so that tests cannot run it in parallel.
func (m *Mirror) Test(t *testing.T, getenv func(string) string, steps ...resource.TestStep) {
	t.Helper()
	t.Setenv("TF_ACC_TERRAFORM_PATH", m.program)
	t.Setenv("TF_CLI_CONFIG_FILE", m.config)
	// The source "gorizond/koldun" means this provider on the program's own host.
	t.Setenv("TF_ACC_PROVIDER_NAMESPACE", "gorizond")
	t.Setenv("TF_ACC_PROVIDER_HOST", m.host)
	p := provider.New(Version, getenv)
	t.Cleanup(p.Close)
	resource.Test(t, resource.TestCase{
		IsUnitTest: true, // run it without TF_ACC=1 as well
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"koldun": func() (tfprotov6.ProviderServer, error) { return protocol.New(p), nil },
		},
		Steps: steps,
	})
}
