package gateway

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/registry"
)

const messagesPath = "/v1/messages"

// messageBody returns a request for tiny with more fields.
func messageBody(more string) string {
	return `{"model":"tiny","max_tokens":64,"messages":[{"role":"user","content":"hello"}]` + more + `}`
}

const messageTools = `,"tools":[{"name":"weather","input_schema":{"type":"object"}},{"name":"time","description":"d"}]`

// withoutIDs replaces what differs between answers.
func withoutIDs(s string) string { return volatile[0].find.ReplaceAllString(s, volatile[0].put) }

func TestMessage(t *testing.T) {
	refuses := func(_ context.Context, s *responder) {
		s.started()
		s.piece("", `{"refusal":"No."}`)
		s.end("stop", 5, 1)
	}
	cut := func(_ context.Context, s *responder) {
		s.started()
		s.text("One")
		s.end("length", 5, 1)
	}
	alternates := func(_ context.Context, s *responder) {
		s.started()
		s.piece("", `{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"weather","arguments":"{"}}]}`)
		s.piece("", `{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"time","arguments":"{\"a\""}}]}`)
		s.piece("", `{"tool_calls":[{"index":0,"function":{"arguments":"}"}},{"index":1,"function":{"arguments":":1}"}}]}`)
		s.end("tool_calls", 5, 2)
	}
	const usage = `"usage":{"input_tokens":5,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"output_tokens":`
	const head = `{"id":"msg_ID","type":"message","role":"assistant","model":"default/tiny","content":`
	cases := map[string]struct {
		more   string
		script func(context.Context, *responder)
		whole  string   // without head
		stream []string // kinds of events and their deltas, in short
	}{
		"Text":     {"", replies("Hel", "lo"), `[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","stop_sequence":null,` + usage + `2}}`, []string{"text", "Hel", "lo", "end_turn"}},
		"Cut":      {"", cut, `[{"type":"text","text":"One"}],"stop_reason":"max_tokens","stop_sequence":null,` + usage + `1}}`, []string{"text", "One", "max_tokens"}},
		"Refusal":  {"", refuses, `[{"type":"text","text":"No."}],"stop_reason":"refusal","stop_sequence":null,` + usage + `1}}`, []string{"text", "No.", "refusal"}},
		"Thoughts": {`,"thinking":{"type":"adaptive"}`, replies("<think>Hm</think>", "4"), `[{"type":"thinking","thinking":"Hm","signature":""},{"type":"text","text":"4"}],"stop_reason":"end_turn","stop_sequence":null,` + usage + `2}}`, []string{"thinking", "Hm", "text", "4", "end_turn"}},
		"Hidden":   {"", replies("<think>Hm</think>", "4"), `[{"type":"text","text":"4"}],"stop_reason":"end_turn","stop_sequence":null,` + usage + `2}}`, []string{"text", "4", "end_turn"}},
		"Tools": {messageTools, callsTools, `[{"type":"text","text":"Let me"},{"type":"tool_use","id":"call_1","name":"weather","input":{"city":"Brno"}},{"type":"tool_use","id":"call_2","name":"time","input":{}}],"stop_reason":"tool_use","stop_sequence":null,` + usage + `7}}`,
			[]string{"text", "Let", " me", "tool_use weather", `{"city":`, `"Brno"}`, "tool_use time", "{}", "tool_use"}},
		"Alternates": {messageTools, alternates, `[{"type":"tool_use","id":"call_1","name":"weather","input":{}},{"type":"tool_use","id":"call_2","name":"time","input":{"a":1}}],"stop_reason":"tool_use","stop_sequence":null,` + usage + `2}}`,
			[]string{"tool_use weather", "{", "}", "tool_use time", `{"a":1}`, "tool_use"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			startRunner(t, w.bus, tinySession, c.script)
			r, body := w.do("POST", messagesPath, messageBody(c.more))
			if d := cmp.Diff(head+c.whole+"\n", withoutIDs(body)); d != "" || r.Header.Get("Request-Id") == "" {
				t.Error(d)
			}
			_, body = w.do("POST", messagesPath, messageBody(c.more+streaming))
			if d := cmp.Diff(c.stream, messageEvents(t, body)); d != "" {
				t.Error(d)
			}
		})
	}
}

// messageEvents checks the frame of a stream, and returns its blocks and deltas.
func messageEvents(t *testing.T, body string) []string {
	t.Helper()
	var out, order []string
	open, next := false, 0
	for block := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		if strings.HasPrefix(block, ":") {
			continue
		}
		name, data, _ := strings.Cut(strings.TrimPrefix(block, "event: "), "\ndata: ")
		var e struct {
			Type    string
			Index   int
			Block   struct{ Type, Name string } `json:"content_block"`
			Message struct{ ID, Role string }
			Delta   struct {
				Type, Text, Thinking string
				JSON                 string `json:"partial_json"`
				StopReason           string `json:"stop_reason"`
			}
			Usage struct {
				Input int `json:"input_tokens"`
			}
		}
		decode(t, data, &e)
		if e.Type != name {
			t.Errorf("event %q has the type %q", name, e.Type)
		}
		switch e.Type {
		case "content_block_start":
			if open || e.Index != next {
				t.Errorf("block %d begins at %d", e.Index, next)
			}
			open = true
			out = append(out, strings.TrimSpace(e.Block.Type+" "+e.Block.Name))
		case "content_block_delta":
			if text := e.Delta.Text + e.Delta.Thinking + e.Delta.JSON; text != "" {
				out = append(out, text)
			}
			if !open || e.Index != next {
				t.Errorf("a delta of block %d at %d", e.Index, next)
			}
		case "content_block_stop":
			open = false
			next++
		case "message_delta":
			out = append(out, e.Delta.StopReason)
			if e.Usage.Input != 5 {
				t.Errorf("usage in %s", data)
			}
			order = append(order, e.Type)
		default:
			order = append(order, e.Type)
		}
	}
	if d := cmp.Diff([]string{"message_start", "message_delta", "message_stop"}, order); d != "" || open {
		t.Error(d)
	}
	return out
}

// TestMessageBecomesAChat holds what the runner gets of a request with all parameters.
func TestMessageBecomesAChat(t *testing.T) {
	w := newWorld(t, nil)
	runner := startRunner(t, w.bus, tinySession, replies("4"))
	body := `{"model":"tiny","max_tokens":64,"system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],
		"temperature":0.5,"top_p":0.9,"top_k":40,"stop_sequences":["END"],"metadata":{"user_id":"u"},"thinking":{"type":"enabled","budget_tokens":1024},
		"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}},
		"tools":[{"name":"f","description":"d","input_schema":{"type":"object"},"strict":true}],"tool_choice":{"type":"tool","name":"f","disable_parallel_tool_use":true},
		"messages":[
			{"role":"user","content":"one"},{"role":"user","content":[{"type":"text","text":"two"}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":""},{"type":"text","text":"so"},{"type":"tool_use","id":"t1","name":"f","input":{"x":1}},{"type":"tool_use","id":"t2","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"3"},{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"no"}]},{"type":"text","text":"and?"}]}]}`
	if r, got := w.do("POST", messagesPath, body); r.StatusCode != http.StatusOK {
		t.Fatal(got)
	}
	const want = `{"max_completion_tokens":64,"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"one\ntwo"},` +
		`{"content":"so","reasoning_content":"Hm","role":"assistant","tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},` +
		`{"id":"t2","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"3","tool_call_id":"t1"},` +
		`{"role":"tool","content":"Error: no","tool_call_id":"t2"},{"role":"user","content":"and?"}],"model":"default/tiny","parallel_tool_calls":false,` +
		`"reasoning_effort":"low","response_format":{"json_schema":{"name":"answer","schema":{"type":"object"},"strict":true},"type":"json_schema"},` +
		`"separate_reasoning":true,"stop":["END"],"temperature":0.5,"tool_choice":{"function":{"name":"f"},"type":"function"},` +
		`"tools":[{"function":{"description":"d","name":"f","parameters":{"type":"object"},"strict":true},"type":"function"}],"top_k":40,"top_p":0.9,"user":"u"}`
	if d := cmp.Diff(want, string(runner.seen()[0].Body)); d != "" {
		t.Error(d)
	}
}

func TestMessageRefuses(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.AllowAnonymous = false })
	w.putOffer("r1", queue.RunnerIdle, "logprobs")
	w.putToken(registry.Token{SHA256: digest("good-token-of-a-test"), Namespace: "default"})
	const use = `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}`
	cases := map[string]struct {
		body, token, kind string
		status            int
	}{
		"NoToken":     {messageBody(""), "", "authentication_error", 401},
		"NoMaxTokens": {`{"model":"tiny","messages":[{"role":"user","content":"a"}]}`, "good-token-of-a-test", "invalid_request_error", 400},
		"NoModel":     {strings.Replace(messageBody(""), "tiny", "nope", 1), "good-token-of-a-test", "not_found_error", 404},
		"Image":       {strings.Replace(messageBody(""), `"hello"`, `[{"type":"image","source":{"type":"url","url":"x"}}]`, 1), "good-token-of-a-test", "invalid_request_error", 400},
		"HostedTool":  {messageBody(`,"tools":[{"type":"web_search_20250305","name":"web_search"}],"tool_choice":{"type":"tool","name":"web_search"}`), "good-token-of-a-test", "invalid_request_error", 400},
		"HostedOnly":  {messageBody(`,"tools":[{"type":"web_search_20250305","name":"web_search"}],"tool_choice":{"type":"any"}`), "good-token-of-a-test", "invalid_request_error", 400},
		"Prefix":      {strings.Replace(messageBody(""), `"user"`, `"assistant"`, 1), "good-token-of-a-test", "invalid_request_error", 400},
		"OpenCall":    {strings.Replace(messageBody(""), `[{"role"`, `[`+use+`,{"role"`, 1), "good-token-of-a-test", "invalid_request_error", 400},
		"UnknownCall": {strings.Replace(messageBody(""), `"hello"`, `[{"type":"tool_result","tool_use_id":"t"}]`, 1), "good-token-of-a-test", "invalid_request_error", 400},
		"NoTools":     {messageBody(messageTools), "good-token-of-a-test", "invalid_request_error", 400},
		"Thread":      {messageBody(`,"thread":{"type":"create"}`), "good-token-of-a-test", "invalid_request_error", 400},
		"Temperature": {messageBody(`,"temperature":1.5`), "good-token-of-a-test", "invalid_request_error", 400},
	}
	for name, c := range cases {
		for _, header := range []string{"X-Api-Key", "Authorization"} {
			t.Run(name+header, func(t *testing.T) {
				value := c.token
				if header == "Authorization" {
					value = "Bearer " + value
				}
				r, body := w.do("POST", messagesPath, c.body, header, value)
				var e struct {
					Type  string
					Error struct{ Type, Message string }
				}
				decode(t, body, &e)
				if r.StatusCode != c.status || e.Type != "error" || e.Error.Type != c.kind || e.Error.Message == "" {
					t.Errorf("%d %s", r.StatusCode, body)
				}
			})
		}
	}
}

// TestMessageThread holds that a client which asks for a conversation that the server
// holds learns that it must send all messages.
func TestMessageThread(t *testing.T) {
	w := newWorld(t, nil)
	_, body := w.do("POST", messagesPath, messageBody(`,"thread":{"type":"create"}`))
	if !strings.Contains(body, `"details":{"error_code":"thread_unsupported_request","unsupported":["thread"]}`) {
		t.Errorf("got %s", body)
	}
}

// TestMessageFails holds that an answer that breaks off ends with an error event.
func TestMessageFails(t *testing.T) {
	w := newWorld(t, nil)
	startRunner(t, w.bus, tinySession, func(_ context.Context, s *responder) {
		s.started()
		s.text(strings.Repeat("x", flushSize))
		s.fail(queue.CodeInterrupted, "runner 3 is gone")
	})
	_, body := w.do("POST", messagesPath, messageBody(streaming))
	if !strings.HasSuffix(body, "event: error\ndata: "+`{"type":"error","error":{"type":"api_error","message":"The generation broke off. What came before is not complete."}}`+"\n\n") {
		t.Errorf("got %s", body)
	}
}
