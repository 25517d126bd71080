package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	tfconfig "github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/openai"
)

func TestFunctionsNeedNoProviderConfiguration(t *testing.T) {
	mirror(t).Test(t, lookup(nil), resource.TestStep{
		Config: head + `
output "ref" { value = provider::koldun::parse_model_ref("hf://org/model").repo }
output "claim" {
  value = yamlencode(provider::koldun::claim("Dllama", { name = "chat", namespace = "ai" }, { modelRef = { name = "m" }, nodes = 1 }))
}
`,
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownOutputValue("ref", knownvalue.StringExact("org/model")),
			statecheck.ExpectKnownOutputValue("claim", knownvalue.StringExact(`"apiVersion": "koldun.gorizond.io/v1"
"kind": "Dllama"
"metadata":
  "name": "chat"
  "namespace": "ai"
"spec":
  "modelRef":
    "name": "m"
  "nodes": 1
`)),
		},
	})
}

func TestFunctionsAgreeWithTheRuntime(t *testing.T) {
	const path = "../../examples/models/koldun-tiny/config.json"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	shape, err := topology.FromConfig(raw, topology.Q40)
	if err != nil {
		t.Fatal(err)
	}
	want, err := shape.Preflight(topology.Request{Nodes: 4})
	if err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	config := head + fmt.Sprintf(`
variable "nodes" { default = 4 }
locals {
  plan = provider::koldun::topology(file(%q), "q40", var.nodes, 0, 0)
}
output "plan" { value = join(" ", concat([local.plan.root.total, local.plan.worker.total], local.plan.possible_nodes)) }
output "named" { value = provider::koldun::conversation_hash("tenant", "ticket-42", [], "") }
output "hashed" { value = provider::koldun::conversation_hash("tenant", "", [{ role = "user", content = "hi" }], "base64:a2V5") }
`, file)
	output := func(name, value string) statecheck.StateCheck {
		return statecheck.ExpectKnownOutputValue(name, knownvalue.StringExact(value))
	}
	mirror(t).Test(t, lookup(nil),
		resource.TestStep{Config: config, ConfigStateChecks: []statecheck.StateCheck{
			output("plan", fmt.Sprintf("%d %d 1 2 4", want.Root().Total(), want.Worker().Total())),
			output("named", openai.Conversation(nil, "tenant", "ticket-42", nil)),
			output("hashed", openai.Conversation([]byte("key"), "tenant", "", []openai.Message{{Role: openai.User, Content: "hi"}})),
		}},
		resource.TestStep{
			Config: config, ConfigVariables: tfconfig.Variables{"nodes": tfconfig.IntegerVariable(8)},
			ExpectError: wrapped("it can be spread onto 1, 2, 4 nodes"),
		})
}
