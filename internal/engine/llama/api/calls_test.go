package api_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/engine/llama/api"
	"github.com/gorizond/koldun/internal/model/toolcall"
)

const weatherTool = `"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]`

// A chatAnswer is what a client reads of an answer.
type chatAnswer struct {
	Choices []struct {
		Message struct {
			Content   string
			ToolCalls []struct {
				ID, Type string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		FinishReason string `json:"finish_reason"`
	}
}

func TestAnswersWithCalls(t *testing.T) {
	call := []string{"Let me ", "look.\n<tool", "_call>\n{\"name\": \"get_weather\", ", `"arguments": {"city": "K`, `öln"}}`, "\n</tool_call>", "\n<tool_call>{\"name\": \"get_weather\"}</tool_call>"}
	for name, c := range map[string]struct {
		fields string
		finish llama.Finish
		pieces []string
		calls  int
		reason string
		text   string
	}{
		"Auto":     {weatherTool, llama.FinishStop, call, 2, "tool_calls", "Let me look."},
		"Single":   {weatherTool + `,"parallel_tool_calls":false`, llama.FinishStop, call, 1, "tool_calls", "Let me look."},
		"Cut":      {weatherTool, llama.FinishLength, call[:4], 1, "length", "Let me look."},
		"None":     {weatherTool + `,"tool_choice":"none"`, llama.FinishStop, call, 0, "stop", strings.Join(call, "")},
		"NoCall":   {weatherTool, llama.FinishStop, []string{"Fine", " <tool", "s>."}, 0, "stop", "Fine <tools>."},
		"Unknown":  {weatherTool, llama.FinishStop, []string{`<tool_call>{"name": "rm"}</tool_call>`}, 0, "stop", `<tool_call>{"name": "rm"}</tool_call>`},
		"NoTools":  {`"tools":[]`, llama.FinishStop, call, 0, "stop", strings.Join(call, "")},
		"Thinking": {weatherTool, llama.FinishStop, []string{"<think>\n<tool_call>{\"name\": \"get_weather\"}</tool_call></think>", "\n", "Hi"}, 0, "stop", "<think>\n<tool_call>{\"name\": \"get_weather\"}</tool_call></think>\nHi"},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, says(c.finish, c.pieces...), api.Options{Calls: toolcall.Hermes})
			_, whole := post(t, server.URL, with(c.fields))
			var answer chatAnswer
			if err := json.Unmarshal([]byte(whole), &answer); err != nil || len(answer.Choices) != 1 {
				t.Fatalf("the answer is %s (%v)", whole, err)
			}
			got := answer.Choices[0]
			if got.Message.Content != c.text || got.FinishReason != c.reason || len(got.Message.ToolCalls) != c.calls {
				t.Errorf("got %q, %d calls and %s, want %q, %d and %s", got.Message.Content, len(got.Message.ToolCalls), got.FinishReason, c.text, c.calls, c.reason)
			}
			if c.calls > 0 {
				first := got.Message.ToolCalls[0]
				if first.Type != "function" || first.ID == "" || first.Function.Name != "get_weather" || !strings.HasPrefix(first.Function.Arguments, `{"city": "K`) {
					t.Errorf("the call is %+v", first)
				}
			}
			_, streamed := post(t, server.URL, with(c.fields+`,"stream":true`))
			if text, calls, reason := join(t, streamed); text != c.text || calls != c.calls || reason != c.reason {
				t.Errorf("streamed %q, %d calls and %s, want %q, %d and %s", text, calls, reason, c.text, c.calls, c.reason)
			}
		})
	}
}

// join returns the text, the number of calls and the finish reason of a stream.
func join(tb testing.TB, stream string) (text string, calls int, reason string) {
	tb.Helper()
	for _, line := range strings.Split(stream, "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content   string
					ToolCalls []struct{ ID string } `json:"tool_calls"`
				}
				FinishReason string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			tb.Fatal(err)
		}
		for _, c := range chunk.Choices {
			text += c.Delta.Content
			reason += c.FinishReason
			for _, call := range c.Delta.ToolCalls {
				if call.ID != "" {
					calls++
				}
			}
		}
	}
	return text, calls, reason
}

// TestAsksWithTools passes tools and the history of calls to the engine.
func TestAsksWithTools(t *testing.T) {
	var asked llama.Request
	server := serve(t, engineFunc(func(ctx context.Context, r llama.Request, emit func(llama.Piece) error) (llama.Result, error) {
		asked = r
		return says(llama.FinishStop, "x")(ctx, r, emit)
	}), api.Options{Calls: toolcall.Mistral})
	post(t, server.URL, `{"messages":[{"role":"user","content":"Hi"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\": \"Bonn\"}"}}]},
		{"role":"tool","tool_call_id":"call_1","content":"fine"}],`+weatherTool+`}`)
	if len(asked.Tools) != 1 || asked.Tools[0].Name != "get_weather" || len(asked.Messages) != 3 {
		t.Fatalf("the engine is asked %+v", asked)
	}
	call, result := asked.Messages[1], asked.Messages[2]
	if len(call.Calls) != 1 || string(call.Calls[0].Arguments) != `{"city": "Bonn"}` || len(result.CallID) != 9 || call.Calls[0].ID != result.CallID || result.Name != "get_weather" {
		t.Errorf("the call is %+v, its result %+v", call, result)
	}
}

func TestRefusesTools(t *testing.T) {
	server := serve(t, says(llama.FinishStop, "x"), api.Options{})
	for fields, param := range map[string]string{
		`"tools":[{"type":"custom","custom":{"name":"c"}}],"tool_choice":{"type":"custom","custom":{"name":"c"}}`: "tool_choice.type",
		`"tools":[{"type":"custom","custom":{"name":"c"}}],"tool_choice":"required"`:                              "tool_choice",
	} {
		resp, body := post(t, server.URL, with(fields))
		if resp.StatusCode != 400 || !strings.Contains(body, `"param":"`+param+`"`) {
			t.Errorf("%s gives %s %s, want a refusal of %s", fields, resp.Status, body, param)
		}
	}
	// What is only offered is left out.
	if resp, body := post(t, server.URL, with(`"tools":[{"type":"custom","custom":{"name":"c"}}]`)); resp.StatusCode != 200 {
		t.Errorf("a custom tool that is only offered gives %s %s", resp.Status, body)
	}
}
