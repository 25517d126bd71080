package sidecar_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/sidecar"
)

// A heard keeps the messages that the engine got last.
type heard struct {
	mu       sync.Mutex
	messages []openai.Message
}

// overhear returns the URL of a proxy before an engine.
func (h *heard) overhear(t *testing.T, engine string) string {
	t.Helper()
	target, err := url.Parse(engine)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     &http.Transport{DisableKeepAlives: true},
		FlushInterval: -1,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked struct{ Messages []openai.Message }
		if json.Unmarshal(body, &asked) == nil && len(asked.Messages) > 0 {
			h.mu.Lock()
			h.messages = asked.Messages
			h.mu.Unlock()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// talk is all that the engine got last.
func (h *heard) talk() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, m := range h.messages {
		b.WriteString(string(m.Role) + ": " + m.Content + "\n")
	}
	return b.String()
}

// plainOf is what koldun llm makes of a tokenizer's file.
func plainOf(t *testing.T, file string) *toolcall.Plain {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	read, err := tokenizer.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return toolcall.NewPlain(t.Context(), read.ChatTemplate, read.Tokens[read.BOS].Text, read.TurnEnd())
}

// TestToolsOnRealDllama has dllama-api answer requests with tools, which it does not
// know: the sidecar writes them into the messages, and looks for calls in the answer.
func TestToolsOnRealDllama(t *testing.T) {
	binaries(t)
	m := converted(t, tinyModel, topology.F32)
	n := startNodes(t, 0, m)
	var h heard
	client, err := engineapi.NewPlain(h.overhear(t, n.url), plainOf(t, m.tokenizer))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.dispatcher("d1")
	w.start("r1", func(ctx context.Context, b *bus.Bus) error {
		return sidecar.Run(ctx, sidecar.Config{
			Bus: b, Engine: client, Supervisor: n.supervisor(), Session: session, Runner: "r1", Model: "ns/model",
			TTL: 3 * time.Second, Grace: 3 * time.Second, Logger: w.logger("r1"),
		})
	})
	w.runner("r1", func(r queue.Runner) bool { return r.State == queue.RunnerIdle && r.Features == openai.FeatureTools })
	const tools = `,"max_tokens":60,"temperature":0,"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]`
	// answer returns the text and the calls of an answer.
	answer := func(r queue.Request) (string, []openai.ToolCall) {
		t.Helper()
		r.Features = openai.FeatureTools
		c := w.send(r)
		text, last := c.finish()
		if last.Kind != queue.FrameEnd {
			t.Fatalf("request %s ends with %+v", r.ID, last.Error)
		}
		var parts openai.Parts
		for _, f := range c.seen {
			var p openai.Parts
			if len(f.Raw) > 0 {
				if err := json.Unmarshal(f.Raw, &p); err != nil {
					t.Fatal(err)
				}
			}
			parts.Add(&p)
		}
		if text == "" && len(parts.ToolCalls) == 0 {
			t.Errorf("request %s has no answer", r.ID)
		}
		return text, parts.ToolCalls
	}
	text, calls := answer(chat("req_1", "What is the weather in Paris?", tools))
	if talk := h.talk(); !strings.Contains(talk, "get_weather(city: string)") || !strings.Contains(talk, "What is the weather in Paris?") {
		t.Errorf("the engine got %q", talk)
	}
	if len(calls) != 1 || calls[0].Function.Name != "get_weather" || calls[0].Function.Arguments != `{"city": "Paris"}` || calls[0].ID == "" {
		t.Errorf("the model says %q and calls %+v", text, calls)
	}

	round := chat("req_2", "")
	round.Body = []byte(`{"model":"ns/model","messages":[{"role":"user","content":"What is the weather in Paris?"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\": \"Paris\"}"}}]},` +
		`{"role":"tool","tool_call_id":"call_1","content":"{\"temperature\": 21, \"sky\": \"sunny\"}"}]` + tools + `}`)
	if text, _ := answer(round); !strings.Contains(text, "temperature 21, sky sunny") {
		t.Errorf("with a result the model says %q; the engine got %q", text, h.talk())
	}

	if text, calls := answer(chat("req_3", question, tools, `,"tool_choice":"none"`)); !strings.HasPrefix(reply, text) || len(calls) != 0 || strings.Contains(h.talk(), "get_weather") {
		t.Errorf("without a choice: %q, %+v; the engine got %q", text, calls, h.talk())
	}
	if _, metrics := get(t, "http://"+n.health+"/metrics"); !strings.Contains(metrics, "koldun_supervised_restarts_total 0") {
		t.Error("the engine did not survive")
	}
}
