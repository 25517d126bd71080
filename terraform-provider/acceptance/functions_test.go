package acceptance

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/topology"
	"github.com/gorizond/koldun/terraform-provider/internal/tofu"
)

func TestFunctionsNeedNoProviderConfiguration(t *testing.T) {
	each(t, functionsNeedNoProviderConfiguration)
}

func functionsNeedNoProviderConfiguration(t *testing.T, m *tofu.Mirror) {
	f := m.Folder(t, head+`
output "ref" { value = provider::koldun::parse_model_ref("hf://org/model").repo }
output "claim" {
  value = yamlencode(provider::koldun::claim("Dllama", { name = "chat", namespace = "ai" }, { modelRef = { name = "m" }, nodes = 1 }))
}
`)
	out := f.OK("apply", "-auto-approve")
	for _, want := range []string{`ref   = "org/model"`, `"kind": "Dllama"`, `"nodes": 1`} {
		if !strings.Contains(out, want) {
			t.Errorf("the outputs lack %s:\n%s", want, out)
		}
	}
}

func TestFunctionsKnowWhatIsServed(t *testing.T) { each(t, functionsKnowWhatIsServed) }

func functionsKnowWhatIsServed(t *testing.T, m *tofu.Mirror) {
	config, err := os.ReadFile("../../examples/models/koldun-tiny/config.json")
	if err != nil {
		t.Fatal(err)
	}
	shape, err := topology.FromConfig(config, topology.Q40)
	if err != nil {
		t.Fatal(err)
	}
	want, err := shape.Preflight(topology.Request{Nodes: 4})
	if err != nil {
		t.Fatal(err)
	}
	f := m.Folder(t, head+`
variable "nodes" { default = 4 }
locals {
  plan = provider::koldun::topology(file("config.json"), "q40", var.nodes, 0, 0)
}
output "plan" { value = join(" ", concat([local.plan.root.total, local.plan.worker.total], local.plan.possible_nodes)) }
output "said" { value = provider::koldun::conversation_hash("tenant", "ticket-42", [], "") }
output "told" { value = provider::koldun::conversation_hash("tenant", "", [{ role = "user", content = "hi" }], "base64:a2V5") }
`)
	f.Write("config.json", string(config))
	out := f.OK("apply", "-auto-approve")
	for name, want := range map[string]string{
		"plan": fmt.Sprintf("%d %d 1 2 4", want.Root().Total(), want.Worker().Total()),
		"said": openai.Conversation(nil, "tenant", "ticket-42", nil),
		"told": openai.Conversation([]byte("key"), "tenant", "", []openai.Message{{Role: openai.User, Content: "hi"}}),
	} {
		if line := fmt.Sprintf("%s = %q", name, want); !strings.Contains(out, line) {
			t.Errorf("the outputs lack %s:\n%s", line, out)
		}
	}
	if r := f.Run("plan", "-var", "nodes=8"); r.Exit == 0 || !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(r.Out, "│", " ")), " "), "it can be spread onto 1, 2, 4 nodes") {
		t.Errorf("a model on too many nodes is planned as:\n%s", r.Out)
	}
}
