package engineapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/openai"
)

const (
	hermes = "{% if tools %}<|im_start|>system\n{{ tools | tojson }}<tool_call><|im_end|>\n{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}" +
		"{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name }}</tool_call>{% endfor %}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
	nowTool = `[{"type":"function","function":{"name":"now","parameters":{"type":"object"}}}]`
)

// TestPlainTools asks an engine that takes plain messages for a call, and gives it
// the result.
func TestPlainTools(t *testing.T) {
	var asked enginetest.Request
	e := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		asked = r
		if strings.HasSuffix(r.Last(), "12:00") {
			return enginetest.Reply{Pieces: []string{"It is", " noon."}}
		}
		return enginetest.Reply{Pieces: []string{"I ", "look <tool", "_call>{\"name\": \"now\", \"argum", "ents\": {\"zone\": ", "\"CET\"}}</tool_call>", "\n"}}
	})
	c, err := engineapi.NewPlain(e.URL, toolcall.NewPlain(t.Context(), hermes, "", "<|im_end|>"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	do := func(body string) (string, *openai.Parts, engineapi.Result) {
		t.Helper()
		r, _, err := engineapi.Decode(openai.OperationChat, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		text, parts := "", &openai.Parts{}
		result, err := c.Do(t.Context(), r, engineapi.Options{}, func(d engineapi.Delta) error {
			text += d.Text
			parts.Add(d.Parts)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return text, parts, result
	}

	text, parts, result := do(`{"model":"m","messages":[{"role":"user","content":"Time?"}],"tools":` + nowTool + `}`)
	if text != "I look" || result.FinishReason != openai.FinishToolCalls || result.Features != openai.FeatureTools || result.Deltas != 6 {
		t.Errorf("got %q, %+v", text, result)
	}
	if len(parts.ToolCalls) != 1 || parts.ToolCalls[0].Function != (openai.ToolFunction{Name: "now", Arguments: `{"zone": "CET"}`}) || parts.ToolCalls[0].ID == "" {
		t.Fatalf("the calls are %+v", parts.ToolCalls)
	}
	if len(asked.Messages) != 2 || asked.Messages[0].Role != "system" || !strings.Contains(asked.Messages[0].Content, `"name": "now"`) {
		t.Errorf("the engine is asked %+v", asked.Messages)
	}

	call, err := json.Marshal(parts.ToolCalls)
	if err != nil {
		t.Fatal(err)
	}
	text, _, result = do(`{"model":"m","messages":[{"role":"user","content":"Time?"},{"role":"assistant","content":null,"tool_calls":` + string(call) +
		`},{"role":"tool","tool_call_id":"` + parts.ToolCalls[0].ID + `","content":"12:00"}],"tools":` + nowTool + `}`)
	if text != "It is noon." || result.FinishReason != openai.FinishStop {
		t.Errorf("got %q, %+v", text, result)
	}
	var talk []string
	for _, m := range asked.Messages[1:] {
		talk = append(talk, m.Role+": "+m.Content)
	}
	if d := cmp.Diff([]string{"user: Time?", "assistant: <tool_call>now</tool_call>", "user: 12:00"}, talk); d != "" {
		t.Errorf("the engine is asked (-want +got):\n%s", d)
	}

	// Without tools nothing changes, and a call is text.
	if text, _, result = do(`{"model":"m","messages":[{"role":"user","content":"Time?"}]}`); !strings.Contains(text, "<tool_call>") || result.FinishReason != openai.FinishStop {
		t.Errorf("without tools: %q, %+v", text, result)
	}
}
