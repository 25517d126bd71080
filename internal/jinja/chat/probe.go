package chat

import (
	"context"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/jinja"
)

// Texts of the probes. Nothing else in a prompt looks like them.
const (
	probeSystem = "probesystemqzx"
	probeFirst  = "probefirstqzx"
	probeAnswer = "probeanswerqzx"
	probeSecond = "probesecondqzx"
	probeTool   = "probetoolqzx"
	probeResult = "proberesultqzx"
)

// Probe renders conversations whose texts can be found again, and refuses a
// template that cannot be evaluated or whose prompt lacks a message. If the
// template uses tools, it also refuses one whose prompt lacks the tool or its
// result: the model would answer without them, and no error would show it. A
// template may refuse a role or tools itself. The error is Unsupported.
func (t *Template) Probe(ctx context.Context) error {
	talk := []Message{{"user", probeFirst}, {"assistant", probeAnswer}, {"user", probeSecond}}
	if err := t.finds(ctx, list(talk), nil, probeFirst, probeAnswer, probeSecond); err != nil {
		return err
	}
	system := append([]Message{{"system", probeSystem}}, talk...)
	if err := t.finds(ctx, list(system), nil, probeSystem, probeFirst, probeAnswer, probeSecond); err != nil && !raised(err) {
		return err
	}
	if !t.mentions("tools") {
		return nil
	}
	return t.probeTools(ctx)
}

// probeTools renders a call with its result. Some templates want arguments as
// an object, some as a text.
func (t *Template) probeTools(ctx context.Context) error {
	tools, err := jinja.Decode([]byte(`[{"type": "function", "function": {"name": "` + probeTool + `", "description": "d",
		"parameters": {"type": "object", "properties": {"p": {"type": "string", "description": "d"}}, "required": ["p"]}}}]`))
	if err != nil {
		return err
	}
	var failed error
	for _, arguments := range []string{`{"p": "v"}`, `"{\"p\": \"v\"}"`} {
		talk, err := jinja.Decode([]byte(`[{"role": "user", "content": "` + probeFirst + `"},
			{"role": "assistant", "content": "", "tool_calls": [{"id": "abcdef123", "type": "function", "function": {"name": "` + probeTool + `", "arguments": ` + arguments + `}}]},
			{"role": "tool", "tool_call_id": "abcdef123", "name": "` + probeTool + `", "content": "` + probeResult + `"}]`))
		if err != nil {
			return err
		}
		failed = t.finds(ctx, talk, tools, probeFirst, probeTool, probeResult)
		if failed == nil || raised(failed) {
			return nil
		}
	}
	return failed
}

// finds renders messages and looks for each text in the prompt.
func (t *Template) finds(ctx context.Context, talk, tools jinja.Value, texts ...string) error {
	vars := []jinja.Pair{{Key: "messages", Value: talk}}
	if tools != nil {
		vars = append(vars, jinja.Pair{Key: "tools", Value: tools})
	}
	out, err := t.render(ctx, vars...)
	if err != nil {
		return fault.Errorf(fault.Unsupported, "cannot evaluate chat template: %w", err)
	}
	prompt := out.String()
	for _, text := range texts {
		if !strings.Contains(prompt, text) {
			return fault.Errorf(fault.Unsupported, "cannot use chat template: its prompt lacks %s of a test conversation", lost[text])
		}
	}
	return nil
}

var lost = map[string]string{
	probeSystem: "the system message",
	probeFirst:  "the first message of the user",
	probeAnswer: "the answer of the assistant",
	probeSecond: "the last message of the user",
	probeTool:   "the name of a tool",
	probeResult: "the result of a tool",
}
