package servers_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/openai/openai-go/v3"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	koldun "github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/test/waittest"
)

// TestLlamaCpp tests what the profile of llama.cpp says beyond TestServing.
func TestLlamaCpp(t *testing.T) {
	server := servers["llama.cpp"](t)
	o := offered(t, server.profile, server.url, server.served, server.slots)
	s := newStack(t, o)
	s.untilReady()
	t.Run("Tools", s.tools)
	t.Run("Schema", s.schema)
	t.Run("LongPrompt", s.longPrompt)
	t.Run("Busy", func(t *testing.T) { s.busy(t, server) })
	waittest.Until(t, "the server to be idle", func() bool {
		load, err := o.client.Load(waittest.Context(t))
		return err == nil && load == engineapi.Load{}
	})
}

// tools go to the server, which writes them into the prompt. The tiny model has not
// learned to call them.
func (s *stack) tools(t *testing.T) {
	p := references(t)[0].params()
	p.MaxTokens = openai.Int(4)
	client := s.client()
	var prompts []int64
	for range 2 {
		got, err := client.Chat.Completions.New(waittest.Context(t), p)
		if err != nil {
			t.Fatal(err)
		}
		prompts = append(prompts, got.Usage.PromptTokens)
		p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: "set_light", Parameters: openai.FunctionParameters{
				"type": "object", "required": []string{"on"}, "properties": map[string]any{"on": map[string]any{"type": "boolean"}},
			},
		})}
		p.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String("required")}
	}
	if prompts[1] < prompts[0]+50 {
		t.Errorf("the prompt has %d tokens with a tool, and %d without", prompts[1], prompts[0])
	}
}

// schema makes the model write JSON of a schema.
func (s *stack) schema(t *testing.T) {
	p := references(t)[0].params()
	p.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &openai.ResponseFormatJSONSchemaParam{
		JSONSchema: openai.ResponseFormatJSONSchemaJSONSchemaParam{Name: "color", Schema: map[string]any{
			"type": "object", "required": []string{"color"}, "additionalProperties": false,
			"properties": map[string]any{"color": map[string]any{"enum": []string{"red", "green"}}},
		}},
	}}
	client := s.client()
	got, err := client.Chat.Completions.New(waittest.Context(t), p)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Color string }
	text := got.Choices[0].Message.Content
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Color != "red" && answer.Color != "green" {
		t.Errorf("the answer is %q: %v", text, err)
	}
}

// longPrompt sends more tokens than a slot has.
func (s *stack) longPrompt(t *testing.T) {
	p := references(t)[0].params()
	p.Messages = append(p.Messages, openai.UserMessage(strings.Repeat("What is Koldun? ", 200)))
	client := s.client()
	var refused *openai.Error
	if _, err := client.Chat.Completions.New(waittest.Context(t), p); !errors.As(err, &refused) || refused.Code != koldun.CodeContextLength || refused.StatusCode != http.StatusBadRequest {
		t.Errorf("err = %v, want that the prompt is too long", err)
	}
}

// busy keeps the server busy from elsewhere: the runner offers fewer slots until
// that ends, and answers meanwhile.
func (s *stack) busy(t *testing.T, server server) {
	ctx, cancel := context.WithCancel(waittest.Context(t))
	defer cancel()
	var others sync.WaitGroup
	for range server.slots + 2 { // the server has four more HTTP threads than slots, and one is for its metrics
		others.Go(func() {
			for ctx.Err() == nil {
				generate(ctx, server)
			}
		})
	}
	waittest.Until(t, "the runner to offer one slot", func() bool {
		return strings.Contains(s.metrics(t), "koldun_runner_slots_taken 3")
	})
	r := references(t)[0]
	client := s.client()
	if got, err := client.Chat.Completions.New(waittest.Context(t), r.params()); err != nil || got.Choices[0].Message.Content != r.F32.Text {
		t.Errorf("the answer of a busy server: %v", err)
	}
	cancel()
	others.Wait()
	waittest.Until(t, "the runner to offer all slots", func() bool {
		text := s.metrics(t)
		return strings.Contains(text, "koldun_runner_slots_taken 0") && strings.Contains(text, `koldun_runner_server_requests{state="waiting"} 0`)
	})
}

// generate asks the server itself for an answer as long as its context.
func generate(ctx context.Context, server server) {
	body := `{"prompt":"Hello","ignore_eos":true,"max_tokens":100000,"temperature":1}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.url+"/completions", strings.NewReader(body))
	if err != nil {
		return
	}
	resp, err := waittest.Client().Do(req)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// metrics are those of the sidecar.
func (s *stack) metrics(t *testing.T) string {
	t.Helper()
	resp, err := waittest.Client().Get("http://" + s.health + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}
