package chat

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/jinja"
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
	talk := []Message{{Role: "user", Content: probeFirst}, {Role: "assistant", Content: probeAnswer}, {Role: "user", Content: probeSecond}}
	if err := t.finds(ctx, Conversation{Messages: talk}, nil, probeFirst, probeAnswer, probeSecond); err != nil {
		return err
	}
	system := append([]Message{{Role: "system", Content: probeSystem}}, talk...)
	if err := t.finds(ctx, Conversation{Messages: system}, nil, probeSystem, probeFirst, probeAnswer, probeSecond); err != nil && !raised(err) {
		return err
	}
	if !t.mentions("tools") {
		return nil
	}
	return t.probeTools(ctx)
}

const probeTools = `[{"type": "function", "function": {"name": "` + probeTool + `", "description": "d",
	"parameters": {"type": "object", "properties": {"p": {"type": "string", "description": "d"}}, "required": ["p"]}}}]`

// probeTools renders a call with its result. Some templates want arguments as
// an object, some as a text.
func (t *Template) probeTools(ctx context.Context) error {
	talk := Conversation{Tools: json.RawMessage(probeTools), Messages: []Message{
		{Role: "user", Content: probeFirst},
		{Role: "assistant", Calls: []Call{{ID: "abcdef123", Name: probeTool, Arguments: json.RawMessage(`{"p": "v"}`)}}},
		{Role: "tool", CallID: "abcdef123", Name: probeTool, Content: probeResult},
	}}
	var failed error
	for _, texts := range []bool{false, true} {
		failed = t.finds(ctx, talk, &style{texts: texts}, probeFirst, probeTool, probeResult)
		if failed == nil || raised(failed) {
			return nil
		}
	}
	return failed
}

// ShowsTools reports whether prompts of the template hold the tools of a
// conversation.
func (t *Template) ShowsTools(ctx context.Context) bool {
	return t.finds(ctx, Conversation{Tools: json.RawMessage(probeTools), Messages: []Message{{Role: "user", Content: probeFirst}}}, nil, probeTool) == nil
}

// finds renders a conversation, in any style that works if none is given, and looks for each
// text in the prompt.
func (t *Template) finds(ctx context.Context, c Conversation, s *style, texts ...string) error {
	var out jinja.Output
	var err error
	if s != nil {
		out, err = t.prompt(ctx, c, *s)
	} else {
		out, err = t.evaluate(ctx, c)
	}
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
