package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// responseBody returns a request for tiny with more fields.
func responseBody(more string) string { return `{"model":"tiny","input":"hello"` + more + `}` }

func kinds(items []responseItem) string {
	var out []string
	for _, item := range items {
		out = append(out, item.Type+" "+item.Status)
	}
	return strings.Join(out, ", ")
}

// TestResponse holds the items that an answer becomes, whole and streamed.
func TestResponse(t *testing.T) {
	tools := `,"tools":[{"type":"function","name":"weather"},{"type":"function","name":"time"}]`
	refuses := func(_ context.Context, s *responder) {
		s.started()
		s.piece("", `{"refusal":"I can"}`)
		s.piece("", `{"refusal":"not."}`)
		s.end("stop", 5, 2)
	}
	cut := func(_ context.Context, s *responder) {
		s.started()
		s.text("One, t")
		s.end("length", 5, 2)
	}
	alternates := func(_ context.Context, s *responder) {
		s.started()
		s.piece("", `{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"weather","arguments":"{"}}]}`)
		s.piece("", `{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"time","arguments":"{"}}]}`)
		s.piece("", `{"tool_calls":[{"index":0,"function":{"arguments":"}"}},{"index":1,"function":{"arguments":"}"}}]}`)
		s.end("tool_calls", 5, 2)
	}
	cases := map[string]struct {
		more   string
		script func(context.Context, *responder)
		want   string // the items
		status string
		texts  []string // of all parts, and arguments
	}{
		"Text":       {"", replies("Hel", "lo"), "message completed", "completed", []string{"Hello"}},
		"Empty":      {"", replies(), "message completed", "completed", []string{""}},
		"Refusal":    {"", refuses, "message completed", "completed", []string{"I cannot."}},
		"Cut":        {`,"max_output_tokens":16`, cut, "message incomplete", "incomplete", []string{"One, t"}},
		"Thoughts":   {"", replies("<think>\nHm", ".</think>\n\n", "Two."), "reasoning completed, message completed", "completed", []string{"Hm.", "Two."}},
		"Tools":      {tools + `,"include":["message.output_text.logprobs"]`, callsTools, "reasoning completed, message completed, function_call completed, function_call completed", "completed", []string{"Hm.", "Let me", `{"city":"Brno"}`, "{}"}},
		"Allowed":    {tools + `,"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"time"}]}`, callsTools, "reasoning completed, message completed, function_call completed", "completed", []string{"Hm.", "Let me", "{}"}},
		"Alternates": {tools, alternates, "function_call completed, function_call completed", "completed", []string{"{}", "{}"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			startRunner(t, w.bus, tinySession, c.script)
			check := func(t *testing.T, r responseObject) {
				t.Helper()
				var texts []string
				for _, item := range r.Output {
					for _, part := range item.Content {
						texts = append(texts, part.Text+part.Refusal)
					}
					if item.Type == "function_call" {
						texts = append(texts, item.Arguments)
						if item.CallID == "" || item.CallID == item.ID || item.Name == "" {
							t.Errorf("call %+v", item)
						}
					}
				}
				if got := kinds(r.Output); got != c.want || r.Status != c.status || r.Model != "default/tiny" || r.Store || r.Usage.Input != 5 || r.Usage.Total != 5+r.Usage.Output {
					t.Errorf("items %q, %+v", got, r)
				}
				if d := cmp.Diff(c.texts, texts); d != "" {
					t.Error(d)
				}
			}
			response, body := w.do("POST", responsesPath, responseBody(c.more))
			if response.StatusCode != 200 {
				t.Fatalf("%d %s", response.StatusCode, body)
			}
			check(t, wantResponse(t, body))
			_, body = w.do("POST", responsesPath, responseBody(c.more+streaming))
			events := wantEvents(t, body)
			check(t, events[len(events)-1].Response)
		})
	}
}

// TestResponseRepeatsTheRequest holds what the runner gets of a request with all
// parameters, and what the response repeats.
func TestResponseRepeatsTheRequest(t *testing.T) {
	w := newWorld(t, nil)
	runner := startRunner(t, w.bus, tinySession, replies("4"))
	body := `{"model":"tiny","instructions":"be brief","temperature":0.5,"top_p":0.9,"presence_penalty":0.1,"frequency_penalty":-0.1,
		"max_output_tokens":32,"max_tool_calls":3,"parallel_tool_calls":false,"top_logprobs":2,"truncation":"disabled","metadata":{"a":"b"},
		"safety_identifier":"s","prompt_cache_key":"k","service_tier":"auto","background":false,"store":true,"user":"u","seed":7,
		"include":["reasoning.encrypted_content","message.output_text.logprobs"],"reasoning":{"effort":"low","summary":"auto"},
		"text":{"verbosity":"low","format":{"type":"json_schema","name":"n","strict":true,"schema":{"type":"object"}}},
		"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":true},{"type":"function","name":"g"}],
		"tool_choice":{"type":"function","name":"f"},
		"input":[
			{"type":"message","role":"developer","content":"Czech"},
			{"role":"user","content":[{"type":"input_text","text":"one"},{"type":"input_text","text":"two"}]},
			{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"Hm"}]},
			{"type":"message","role":"assistant","id":"msg_1","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"so","annotations":[]}]},
			{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"x\":1}","status":"completed"},
			{"type":"function_call","call_id":"c2","name":"g","arguments":""},
			{"type":"function_call_output","call_id":"c1","output":"3"},
			{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"4"}]}]}`
	response, got := w.do("POST", responsesPath, body)
	if response.StatusCode != 200 {
		t.Fatal(got)
	}
	r := wantResponse(t, got)
	if r.Temperature != 0.5 || string(r.ToolChoice) != `{"type":"function","name":"f"}` || r.Metadata["a"] != "b" ||
		string(r.Text) != `{"format":{"description":null,"name":"n","schema":null,"strict":true,"type":"json_schema"},"verbosity":"low"}` {
		t.Errorf("got %s", got)
	}
	const want = `{"frequency_penalty":-0.1,"logprobs":true,"max_completion_tokens":32,"messages":[` +
		`{"role":"system","content":"be brief\n\nCzech"},{"role":"user","content":"one\ntwo"},` +
		`{"content":"so","reasoning_content":"Hm","role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},` +
		`{"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}]},` +
		`{"role":"tool","content":"3","tool_call_id":"c1"},{"role":"tool","content":"4","tool_call_id":"c2"}],` +
		`"model":"default/tiny","parallel_tool_calls":false,"presence_penalty":0.1,"reasoning_effort":"low",` +
		`"response_format":{"json_schema":{"name":"n","schema":{"type":"object"},"strict":true},"type":"json_schema"},"seed":7,"temperature":0.5,` +
		`"tool_choice":{"function":{"name":"f"},"type":"function"},"tools":[{"function":{"name":"f","description":"d","parameters":{"type":"object"},"strict":true},"type":"function"},` +
		`{"function":{"name":"g"},"type":"function"}],"top_logprobs":2,"top_p":0.9,"user":"u","verbosity":"low"}`
	request := runner.seen()[0]
	if d := cmp.Diff(want, string(request.Body)); d != "" {
		t.Error(d)
	}
	if request.Operation != "chat" || request.Features != "json_schema,logprobs,tool_choice,tools" {
		t.Errorf("operation %q, features %q", request.Operation, request.Features)
	}
}

// TestResponseIsInputAgain holds that all items of an output can be sent back as they are.
func TestResponseIsInputAgain(t *testing.T) {
	w := newWorld(t, nil)
	runner := startRunner(t, w.bus, tinySession, callsTools)
	const tools = `,"tools":[{"type":"function","name":"weather"},{"type":"function","name":"time"}]`
	_, body := w.do("POST", responsesPath, responseBody(tools))
	var first struct{ Output []json.RawMessage }
	decode(t, body, &first)
	input := []any{map[string]string{"role": "user", "content": "hello"}}
	for _, item := range first.Output {
		input = append(input, item)
		var call responseItem
		decode(t, string(item), &call)
		if call.CallID != "" {
			input = append(input, map[string]string{"type": "function_call_output", "call_id": call.CallID, "output": "ok"})
		}
	}
	again, err := json.Marshal(map[string]any{"model": "tiny", "input": input})
	if err != nil {
		t.Fatal(err)
	}
	if response, body := w.do("POST", responsesPath, string(again)); response.StatusCode != 200 {
		t.Fatal(body)
	}
	const want = `{"messages":[{"role":"user","content":"hello"},{"content":"Let me","reasoning_content":"Hm.","role":"assistant","tool_calls":[` +
		`{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Brno\"}"}}]},{"role":"tool","content":"ok","tool_call_id":"call_1"},` +
		`{"role":"assistant","content":"","tool_calls":[{"id":"call_2","type":"function","function":{"name":"time","arguments":"{}"}}]},` +
		`{"role":"tool","content":"ok","tool_call_id":"call_2"}],"model":"default/tiny"}`
	if d := cmp.Diff(want, string(runner.seen()[1].Body)); d != "" {
		t.Error(d)
	}
}

// TestResponseFails holds that an answer that breaks off ends with an error and a failed
// response, and that an engine's refusal names the parameters of responses.
func TestResponseFails(t *testing.T) {
	w := newWorld(t, func(_ *Config, p *timing) { p.quiet = time.Hour }) // a stream has no status after it
	startRunner(t, w.bus, tinySession, func(_ context.Context, s *responder) {
		s.started()
		if s.chat.Messages[0].Content == "long" {
			s.fail(queue.CodeContextLength, "The context holds 128 tokens, and 'messages' have 200.")
			return
		}
		s.text("He")
		s.send(queue.Frame{Kind: queue.FrameDelta, Text: strings.Repeat("x", flushSize)})
		s.fail(queue.CodeInterrupted, "runner 3 is gone")
	})
	_, body := w.do("POST", responsesPath, responseBody(streaming))
	events := wantEvents(t, body)
	last := events[len(events)-1]
	if last.Type != "response.failed" || last.Response.Status != "failed" || last.Response.Error.Code != "interrupted" || events[len(events)-2].Error.Code != "interrupted" {
		t.Errorf("got %s", body)
	}
	for _, stream := range []string{"", streaming} {
		response, body := w.do("POST", responsesPath, `{"model":"tiny","input":"long"`+stream+`}`)
		if e := decodeError(t, body); response.StatusCode != 400 || e.Param != "input" || e.Code != "context_length_exceeded" || strings.Contains(e.Message, "messages") {
			t.Errorf("%d %s", response.StatusCode, body)
		}
	}
}

func TestResponseRefuses(t *testing.T) {
	w := newWorld(t, nil)
	w.putOffer("r1", queue.RunnerIdle, "logprobs")
	const message = `{"role":"user","content":[`
	cases := map[string]struct{ body, param, code string }{
		"NoModel":       {`{"input":"a"}`, "model", "missing_required_parameter"},
		"NoInput":       {`{"model":"tiny"}`, "input", "missing_required_parameter"},
		"Background":    {responseBody(`,"background":true`), "background", "unsupported_value"},
		"Conversation":  {responseBody(`,"conversation":"c"`), "conversation", "unsupported_parameter"},
		"HostedTool":    {responseBody(`,"tools":[{"type":"web_search"}],"tool_choice":{"type":"web_search"}`), "tool_choice.type", "unsupported_value"},
		"HostedOnly":    {responseBody(`,"tools":[{"type":"web_search"}],"tool_choice":"required"`), "tool_choice", "invalid_value"},
		"Previous":      {responseBody(`,"previous_response_id":"resp_1"`), "previous_response_id", "previous_response_not_found"},
		"Reference":     {`{"model":"tiny","input":[{"type":"item_reference","id":"msg_1"}]}`, "input", "item_not_found"},
		"Image":         {`{"model":"tiny","input":[` + message + `{"type":"input_image","image_url":"data:,"}]}]}`, "input[0].content[0].type", "unsupported_value"},
		"File":          {`{"model":"tiny","input":[` + message + `{"type":"input_file","file_data":""}]}]}`, "input[0].content[0].type", "unsupported_value"},
		"UnknownCall":   {`{"model":"tiny","input":[{"type":"function_call_output","call_id":"c","output":"1"}]}`, "input", ""},
		"OpenCall":      {`{"model":"tiny","input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}`, "input", ""},
		"UnknownKind":   {`{"model":"tiny","input":[{"type":"hologram"}]}`, "input[0].type", "unsupported_value"},
		"FewTokens":     {responseBody(`,"max_output_tokens":15`), "max_output_tokens", "invalid_value"},
		"NamesNoTool":   {responseBody(`,"tool_choice":{"type":"function","name":"f"}`), "tool_choice.name", "invalid_value"},
		"RequiresNone":  {responseBody(`,"tool_choice":"required"`), "tool_choice", "invalid_value"},
		"NoTools":       {responseBody(`,"tools":[{"type":"function","name":"f"}]`), "tools", "unsupported_parameter"},
		"NoSchemas":     {responseBody(`,"text":{"format":{"type":"json_schema","name":"n","schema":{}}}`), "text.format", "unsupported_parameter"},
		"Metadata":      {responseBody(`,"metadata":{"a":1}`), "metadata.a", "invalid_type"},
		"Compaction":    {`{"model":"tiny","input":[{"type":"compaction","encrypted_content":"x"}]}`, "input[0].encrypted_content", "invalid_value"},
		"InputNumber":   {`{"model":"tiny","input":1}`, "input", "invalid_type"},
		"NoJSON":        {`{`, "", "invalid_json"},
		"UnknownModel":  {`{"model":"nope","input":"a"}`, "model", "model_not_found"},
		"UnknownEffort": {responseBody(`,"reasoning":{"effort":"huge"}`), "reasoning.effort", "invalid_value"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			response, body := w.do("POST", responsesPath, c.body)
			e := decodeError(t, body)
			if response.StatusCode/100 != 4 || e.Param != c.param || e.Code != c.code {
				t.Errorf("got %d %s", response.StatusCode, body)
			}
			if c.param != "" && c.code == "unsupported_parameter" && !strings.Contains(e.Message, "'"+c.param+"'") {
				t.Errorf("the message names another parameter: %s", e.Message)
			}
		})
	}
}
