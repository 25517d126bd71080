package up_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/gorizond/koldun/internal/serving/gateway/openresponsestest"
	"github.com/gorizond/koldun/test/waittest"
)

// A compliance sends the requests of the compliance suite of Open Responses to an
// endpoint with the tiny model, which answers at temperature 0 so that runs agree.
type compliance struct{ url string } // of /v1/responses

// A complied is what the cases look at in a response, an event or an error.
type complied struct {
	ID, Type string
	Status   any // a word; a number in the error frame of a WebSocket
	Output   []struct {
		Type, Name, Arguments string
		ID                    string
		CallID                string `json:"call_id"`
		Encrypted             string `json:"encrypted_content"`
	}
	Error *struct{ Code, Message, Param string }
}

const (
	usualInput = `"input":[{"type":"message","role":"user","content":"What is Koldun?"}]`
	one        = `"parallel_tool_calls":false`
	usualTools = `"tools":[{"type":"function","name":"get_weather","description":"Get the weather.","parameters":{"type":"object","properties":{"unit":{"type":"string","enum":["celsius","kelvin"]}},"required":["unit"]}}]`
)

// post sends fields, and returns the status and what comes.
func (c compliance) post(t *testing.T, path, fields string) (int, string) {
	t.Helper()
	ctx := waittest.Context(t)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, strings.NewReader(`{`+fields+`}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// usual are the fields of a request.
func usual(more ...string) string {
	return strings.Join(append([]string{`"model":"default/koldun-tiny","temperature":0`}, more...), ",")
}

// completes wants a valid response that is completed.
func (c compliance) completes(t *testing.T, more ...string) complied {
	t.Helper()
	status, body := c.post(t, "", usual(more...))
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if err := openresponsestest.Check("ResponseResource", body); err != nil {
		t.Error(err)
	}
	r := complies(t, body)
	if r.Status != "completed" || len(r.Output) == 0 {
		t.Errorf("got %s", body)
	}
	return r
}

func complies(t *testing.T, body string) complied {
	t.Helper()
	var r complied
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

// call wants one whole call of the tool.
func (r complied) call(t *testing.T) (id string) {
	t.Helper()
	for _, item := range r.Output {
		var arguments struct{ Unit string }
		if item.Type == "function_call" {
			if err := json.Unmarshal([]byte(item.Arguments), &arguments); err != nil || item.Name != "get_weather" || arguments.Unit == "" || item.CallID == "" {
				t.Errorf("the call is %+v", item)
			}
			return item.CallID
		}
	}
	t.Fatalf("no call in %+v", r)
	return ""
}

// checkCompliance runs all cases. One with an image is refused by name, because the
// model reads text only.
func checkCompliance(t *testing.T, url string) {
	c := compliance{url + "/responses"}
	for name, input := range map[string]string{
		"basic-response":  usualInput,
		"assistant-phase": `"input":[{"type":"message","role":"user","content":"Hi"},{"type":"message","role":"assistant","phase":"commentary","content":"I look."},{"type":"message","role":"assistant","phase":"final_answer","content":"Hello."},{"type":"message","role":"user","content":"What is Koldun?"}]`,
		"system-prompt":   `"input":[{"type":"message","role":"system","content":"You are a pirate."},{"type":"message","role":"user","content":"What is Koldun?"}]`,
		"multi-turn":      `"input":[{"type":"message","role":"user","content":"My name is Alice."},{"type":"message","role":"assistant","content":"Hello Alice!"},{"type":"message","role":"user","content":"What is Koldun?"}]`,
	} {
		t.Run(name, func(t *testing.T) { c.completes(t, input) })
	}
	t.Run("image-input", func(t *testing.T) {
		status, body := c.post(t, "", usual(`"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"What?"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}]`))
		if e := complies(t, body).Error; status != http.StatusBadRequest || e == nil || !strings.Contains(e.Message, "input_image") {
			t.Errorf("%d %s", status, body)
		}
	})
	t.Run("streaming-response", func(t *testing.T) { c.streams(t, "output_text.delta", usualInput) })
	t.Run("tool-calling", func(t *testing.T) { c.completes(t, usualInput, usualTools, one, `"tool_choice":"required"`).call(t) })
	t.Run("tool-calling-streaming", func(t *testing.T) {
		c.streams(t, "function_call_arguments.delta", usualInput, usualTools, one, `"tool_choice":"required"`).call(t)
	})
	t.Run("function-call-roundtrip", func(t *testing.T) {
		first := c.completes(t, usualInput, usualTools, one, `"tool_choice":{"type":"function","name":"get_weather"}`)
		c.completes(t, `"previous_response_id":"`+first.ID+`","input":[{"type":"function_call_output","call_id":"`+first.call(t)+`","output":"sunny"}]`)
	})
	t.Run("previous-response-id", func(t *testing.T) {
		c.completes(t, usualInput, `"previous_response_id":"`+c.completes(t, usualInput).ID+`"`)
	})
	t.Run("compact-response", func(t *testing.T) {
		status, body := c.post(t, "/compact", usual(usualInput))
		if err := openresponsestest.Check("CompactResource", body); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s: %v", status, body, err)
		}
		c.completes(t, `"input":[`+complies(t, body).compaction(t)+`,{"type":"message","role":"user","content":"What is Koldun?"}]`)
	})
	t.Run("compact-missing-model", func(t *testing.T) {
		if status, body := c.post(t, "/compact", usualInput); status != http.StatusBadRequest {
			t.Errorf("%d %s", status, body)
		}
	})
	c.sockets(t)
}

// compaction is the item of a compaction, as input.
func (r complied) compaction(t *testing.T) string {
	t.Helper()
	if len(r.Output) == 0 || r.Output[0].Type != "compaction" {
		t.Fatalf("no compaction in %+v", r)
	}
	item, err := json.Marshal(map[string]string{"type": "compaction", "id": r.Output[0].ID, "encrypted_content": r.Output[0].Encrypted})
	if err != nil {
		t.Fatal(err)
	}
	return string(item)
}

// streams wants valid events, some of them of a type, and returns the last response.
func (c compliance) streams(t *testing.T, kind string, more ...string) complied {
	t.Helper()
	_, body := c.post(t, "", usual(append(more, `"stream":true`)...))
	var last struct{ Response complied }
	found := false
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		if err := openresponsestest.CheckEvent(data); err != nil {
			t.Fatal(err)
		}
		found = found || complies(t, data).Type == "response."+kind
		if err := json.Unmarshal([]byte(data), &last); err != nil {
			t.Fatal(err)
		}
	}
	if last.Response.Status != "completed" || !found {
		t.Errorf("got %s", body)
	}
	return last.Response
}

// A complianceSocket is a WebSocket of the cases.
type complianceSocket struct{ conn *websocket.Conn }

func (c compliance) socket(t *testing.T) complianceSocket {
	t.Helper()
	conn, r, err := websocket.Dial(waittest.Context(t), strings.Replace(c.url, "http", "ws", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Body != nil {
		_ = r.Body.Close()
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return complianceSocket{conn}
}

// ask sends a turn, and returns its response, or its error.
func (s complianceSocket) ask(t *testing.T, more ...string) complied {
	t.Helper()
	ctx := waittest.Context(t)
	if err := s.conn.Write(ctx, websocket.MessageText, []byte(`{"type":"response.create",`+usual(more...)+`}`)); err != nil {
		t.Fatal(err)
	}
	for {
		_, data, err := s.conn.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		e := complies(t, string(data))
		if e.Type == "error" {
			if err := openresponsestest.Check("WebSocketErrorEvent", string(data)); err != nil {
				t.Error(err)
			}
			return e
		}
		if err := openresponsestest.CheckEvent(string(data)); err != nil {
			t.Fatal(err)
		}
		var event struct{ Response complied }
		if err := json.Unmarshal(data, &event); err != nil {
			t.Fatal(err)
		}
		if r := event.Response; r.Status != nil && r.Status != "in_progress" {
			return r
		}
	}
}

// sockets runs the cases of the WebSocket.
func (c compliance) sockets(t *testing.T) {
	const forgets, unknown = `"store":false`, `"previous_response_id":"resp_06H0HSYMZ2R1BCA0B5HVNZ6S28"`
	after := func(r complied) string { return `"previous_response_id":"` + r.ID + `"` }
	completed := func(t *testing.T, r complied) complied {
		t.Helper()
		if r.Status != "completed" || len(r.Output) == 0 {
			t.Fatalf("got %+v", r)
		}
		return r
	}
	missing := func(t *testing.T, r complied) {
		t.Helper()
		if r.Error == nil || r.Error.Code != "previous_response_not_found" {
			t.Errorf("got %+v", r)
		}
	}
	t.Run("websocket-sequential-responses", func(t *testing.T) {
		s := c.socket(t)
		for range 2 {
			completed(t, s.ask(t, usualInput))
		}
	})
	t.Run("websocket-continuation", func(t *testing.T) {
		s := c.socket(t)
		first := completed(t, s.ask(t, usualInput, forgets))
		completed(t, s.ask(t, usualInput, forgets, after(first)))
	})
	t.Run("websocket-previous-response-not-found", func(t *testing.T) { missing(t, c.socket(t).ask(t, usualInput, unknown)) })
	t.Run("websocket-reconnect-store-false-recovery", func(t *testing.T) {
		first := completed(t, c.socket(t).ask(t, usualInput, forgets))
		s := c.socket(t)
		missing(t, s.ask(t, usualInput, forgets, after(first)))
		completed(t, s.ask(t, usualInput, forgets))
	})
	t.Run("websocket-failed-continuation-evicts-cache", func(t *testing.T) {
		s := c.socket(t)
		first := completed(t, s.ask(t, usualInput, forgets))
		if r := s.ask(t, forgets, after(first), `"input":[{"type":"function_call_output","call_id":"call_none","output":"1"}]`); r.Error == nil {
			t.Errorf("an output of no call: %+v", r)
		}
		missing(t, s.ask(t, usualInput, forgets, after(first)))
	})
	t.Run("websocket-compact-new-chain", func(t *testing.T) {
		_, body := c.post(t, "/compact", usual(usualInput))
		completed(t, c.socket(t).ask(t, forgets, `"input":[`+complies(t, body).compaction(t)+`,{"type":"message","role":"user","content":"What is Koldun?"}]`))
	})
}

// checkStopSequences holds that the Messages API says which stop sequence ended an
// answer, streamed and not.
func checkStopSequences(t *testing.T, url string) {
	t.Helper()
	const fields = `"model":"default/koldun-tiny","max_tokens":60,"temperature":0,"messages":[{"role":"user","content":"What is Koldun?"}],`
	c := compliance{url + "/messages"}
	for request, want := range map[string]string{
		`"stop_sequences":["never"," YAML"]`:               `"stop_reason":"stop_sequence","stop_sequence":" YAML"`,
		`"stop_sequences":["never"," YAML"],"stream":true`: `"stop_reason":"stop_sequence","stop_sequence":" YAML"`,
		`"stop_sequences":["never"]`:                       `"stop_reason":"end_turn","stop_sequence":null`,
	} {
		if status, body := c.post(t, "", fields+request); status != http.StatusOK || !strings.Contains(body, want) || strings.Contains(body, "YAML claim") && !strings.Contains(want, "null") {
			t.Errorf("%s: %d %s", request, status, body)
		}
	}
}
