package toolcall_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/model/jinja/chat"
	"github.com/gorizond/koldun/internal/model/jinja/jinjatest"
	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/openai"
)

// families are those of templates of real models.
var families = map[string]toolcall.Family{
	"Llama 3.1 8B": toolcall.Llama, "Llama 3.3 70B": toolcall.Llama, "Llama 3.1 json (vLLM)": toolcall.Llama,
	"Qwen2.5 7B": toolcall.Hermes, "Qwen3-Coder": toolcall.QwenCoder, "Qwen3.5 4B": toolcall.QwenCoder, "Nemotron 3 Nano": toolcall.QwenCoder,
	"Hermes 3 Llama 3.1 8B (tool_use)": toolcall.Hermes,
	"Mistral 7B v0.3":                  toolcall.Mistral, "Mistral Nemo": toolcall.Mistral, "Mistral (vLLM)": toolcall.Mistral, "Ministral 3 14B Reasoning": toolcall.Mistral,
	"DeepSeek V3 tool (vLLM)": toolcall.DeepSeek, "Kimi K2": toolcall.Kimi,
	"DeepSeek R1": toolcall.Generic, "DeepSeek R1 Distill Qwen 32B": toolcall.Generic, "Gemma 2 2B": toolcall.Generic, "Phi-4": toolcall.Generic,
	"Gemma 4 31B": toolcall.Generic, "Command R7B": toolcall.Generic,
}

// TestModels renders conversations with tools by the templates of real models, and
// compares the prompts with those of Jinja2, where it got arguments as objects.
func TestModels(t *testing.T) {
	var reference struct {
		Templates map[string]string
		Cases     []struct {
			Template, Scenario, Text string
			Data                     map[string]json.RawMessage
		}
	}
	jinjatest.ReadCases(t, "./internal/model/toolcall", &reference)
	for name, want := range families {
		if got := toolcall.Detect(reference.Templates[name]); got != want {
			t.Errorf("%s is of family %s, want %s", name, got, want)
		}
	}
	objects := map[string]string{} // prompts of templates that got arguments as objects
	for _, c := range reference.Cases {
		if c.Scenario == "toolresult-objargs" {
			objects[c.Template] = c.Text
		}
	}
	for _, c := range reference.Cases {
		source := reference.Templates[c.Template]
		family := toolcall.Detect(source)
		if family == toolcall.Generic || c.Data["tools"] == nil || strings.Contains(source, "strftime_now") {
			continue
		}
		want := c.Text
		if c.Scenario == "toolresult-strargs" {
			want = objects[c.Template]
		}
		if want == "" || family == toolcall.Kimi {
			continue // refused, or with ids of the client
		}
		t.Run(c.Template+"/"+c.Scenario, func(t *testing.T) {
			if d := cmp.Diff(want, render(t, source, c.Data)); d != "" {
				t.Errorf("the prompt differs (-reference +ours):\n%s", d)
			}
		})
	}
}

func render(t *testing.T, template string, data map[string]json.RawMessage) string {
	t.Helper()
	var bos, eos string
	_ = json.Unmarshal(data["bos_token"], &bos)
	_ = json.Unmarshal(data["eos_token"], &eos)
	body := []byte(`{"model": "m", "messages": ` + string(data["messages"]) + `, "tools": ` + string(data["tools"]) + `}`)
	request, err := openai.ParseChat(body)
	if err != nil {
		t.Fatal(err)
	}
	messages, bad := toolcall.History(toolcall.Detect(template), request.Messages)
	if bad != nil {
		t.Fatal(bad)
	}
	own, err := chat.Parse(template, bos, eos)
	if err != nil {
		t.Fatal(err)
	}
	segments, err := own.Prompt(t.Context(), chat.Conversation{Messages: messages, Tools: request.Featured["tools"]})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, s := range segments {
		out.WriteString(s.Text)
	}
	return out.String()
}
