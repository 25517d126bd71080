package chat_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/jinja/chat"
	"github.com/gorizond/koldun/internal/model/jinja/jinjatest"
)

const turns = "{% for m in messages %}{{ m.role }}:{{ m.content }}\n{% endfor %}"

// TestProbe probes templates that work, and some that lose a part of the
// conversation.
func TestProbe(t *testing.T) {
	for name, c := range map[string]struct{ template, says string }{
		"Turns":          {turns, ""},
		"NoSystem":       {"{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + turns, ""},
		"Tools":          {"{{ tools }}" + turns, ""},
		"ToolsInText":    {turns + "{# no tools #}", "the name of a tool"},
		"RefusesTools":   {"{% if tools %}{{ raise_exception('no tools') }}{% endif %}" + turns, ""},
		"ObjectsOnly":    {"{{ tools }}" + turns + "{% for m in messages %}{% for c in m.tool_calls or [] %}{% for k, v in c.function.arguments|items %}{{ k }}{% endfor %}{% endfor %}{% endfor %}", ""},
		"TextsOnly":      {"{{ tools }}" + turns + "{% for m in messages %}{% for c in m.tool_calls or [] %}{{ 'x' + c.function.arguments }}{% endfor %}{% endfor %}", ""},
		"Syntax":         {"a\n{{ x", "line 2"},
		"Tag":            {"{% block x %}{% endblock %}", `tag "block"`},
		"Fails":          {turns + "{{ 1 + 'a' }}", `line 2: "+"`},
		"RefusesAll":     {"{{ raise_exception('never') }}", "never"},
		"LosesSystem":    {"{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor %}", "the system message"},
		"LosesFirst":     {"{% for m in messages[-2:] %}{{ m.content }}{% endfor %}", "the first message of the user"},
		"LosesAnswer":    {"{% for m in messages if m.role != 'assistant' %}{{ m.content }}{% endfor %}", "the answer of the assistant"},
		"LosesLast":      {"{% for m in messages[:-1] %}{{ m.content }}{% endfor %}", "the last message of the user"},
		"LosesTool":      {"{% if tools %}{% endif %}{% for m in messages %}{{ m.content }}{% endfor %}", "the name of a tool"},
		"LosesResult":    {"{{ tools }}{% for m in messages if m.role != 'tool' %}{{ m.content }}{% endfor %}", "the result of a tool"},
		"NeedsNoContent": {"{{ tools }}" + turns + "{% for m in messages %}{{ m.content.nope.nope }}{% endfor %}", `attribute "nope"`},
	} {
		t.Run(name, func(t *testing.T) {
			template, err := chat.Parse(c.template, "<s>", "</s>")
			if err == nil {
				err = template.Probe(t.Context())
			}
			if c.says == "" && err != nil {
				t.Error(err)
			}
			if c.says != "" && (!fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("err = %v, want Unsupported with %q", err, c.says)
			}
		})
	}
}

// TestProbeOfModels probes the templates of real models, and prompts with them
// as transformers does.
func TestProbeOfModels(t *testing.T) {
	var reference struct {
		Templates map[string]string
		Cases     []struct {
			Template, Scenario string
			Text               string
			Data               struct {
				Messages []chat.Message
				BOS      string `json:"bos_token"`
				EOS      string `json:"eos_token"`
			}
		}
	}
	jinjatest.ReadCases(t, "./internal/model/jinja/chat", &reference)
	for name, source := range reference.Templates {
		template, err := chat.Parse(source, "<s>", "</s>")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := template.Probe(t.Context()); err != nil {
			t.Logf("%s is refused: %v", name, err)
		}
	}
	for _, c := range reference.Cases {
		if c.Scenario != "plain" || strings.Contains(reference.Templates[c.Template], "strftime_now") {
			continue // the second writes today's date
		}
		template, err := chat.Parse(reference.Templates[c.Template], c.Data.BOS, c.Data.EOS)
		if err != nil {
			t.Fatal(err)
		}
		segments, err := template.Prompt(context.Background(), chat.Conversation{Messages: c.Data.Messages})
		if err != nil {
			t.Errorf("%s: %v", c.Template, err)
			continue
		}
		var got strings.Builder
		for _, s := range segments {
			got.WriteString(s.Text)
		}
		if got.String() != c.Text {
			t.Errorf("%s: got %q, want %q", c.Template, got.String(), c.Text)
		}
	}
}

// TestWithoutTools holds that tools which are not given are None, as transformers has it, but
// for templates that loop over them.
func TestWithoutTools(t *testing.T) {
	for source, want := range map[string]string{
		"{% if tools is not none %}tools{% endif %}{% if documents is none %}{{ messages[0].content }}{% endif %}": "hi",
		"{% for t in tools %}{{ t.name }}{% endfor %}{{ messages[0].content }}":                                    "hi",
		"{% if tools is defined and tools %}tools{% endif %}{{ messages[0].content }}":                             "hi",
	} {
		template, err := chat.Parse(source, "", "")
		if err != nil {
			t.Fatal(err)
		}
		segments, err := template.Prompt(t.Context(), chat.Conversation{Messages: []chat.Message{{Role: "user", Content: "hi"}}})
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		var got strings.Builder
		for _, s := range segments {
			got.WriteString(s.Text)
		}
		if got.String() != want {
			t.Errorf("%s: got %q", source, got.String())
		}
	}
}
