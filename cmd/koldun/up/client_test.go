package up_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
)

const question = "What is Koldun?"

// checkLogprobs asks the quickstart for log probabilities: their tokens are the text.
func checkLogprobs(ctx context.Context, t *testing.T, client openai.Client) {
	t.Helper()
	params := openai.ChatCompletionNewParams{
		Model: "default/koldun-tiny", Logprobs: openai.Bool(true), TopLogprobs: openai.Int(2),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
	}
	whole, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, token := range whole.Choices[0].Logprobs.Content {
		if token.Logprob > 0 || len(token.TopLogprobs) != 2 || token.TopLogprobs[0].Logprob < token.TopLogprobs[1].Logprob {
			t.Errorf("token %s", token.RawJSON())
		}
		for _, b := range token.Bytes {
			text = append(text, byte(b))
		}
	}
	if string(text) != whole.Choices[0].Message.Content || len(text) == 0 {
		t.Errorf("the tokens are %q, the text %q", text, whole.Choices[0].Message.Content)
	}
	stream := client.Chat.Completions.NewStreaming(ctx, params)
	streamed := 0
	for stream.Next() {
		for _, c := range stream.Current().Choices {
			streamed += len(c.Logprobs.Content)
		}
	}
	if stream.Err() != nil || streamed != len(whole.Choices[0].Logprobs.Content) {
		t.Errorf("the stream has %d tokens, the whole answer %d: %v", streamed, len(whole.Choices[0].Logprobs.Content), stream.Err())
	}
	completion, err := client.Completions.New(ctx, openai.CompletionNewParams{
		Model: "default/koldun-tiny", Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String(question)}, Logprobs: openai.Int(1), MaxTokens: openai.Int(8),
	})
	if err != nil {
		t.Fatal(err)
	}
	if l := completion.Choices[0].Logprobs; strings.Join(l.Tokens, "") != completion.Choices[0].Text || len(l.TextOffset) != len(l.Tokens) || len(l.TopLogprobs[0]) != 1 {
		t.Errorf("the log probabilities of a completion are %s", completion.RawJSON())
	}
}

// checkForms asks the quickstart for JSON that a schema allows, streamed and not, and
// for a call of a tool.
func checkForms(ctx context.Context, t *testing.T, client openai.Client) {
	t.Helper()
	var schema map[string]any
	if err := json.Unmarshal([]byte(`{"type":"object","properties":{"kind":{"enum":["river","bridge"]},"length":{"type":"integer","minimum":1,"maximum":50},
		"at":{"type":"array","items":{"type":"array","items":{"type":"number","minimum":0,"maximum":9},"minItems":2,"maxItems":2},"minItems":1,"maxItems":2}},
		"required":["kind","length","at"],"additionalProperties":false}`), &schema); err != nil {
		t.Fatal(err)
	}
	params := openai.ChatCompletionNewParams{
		Model: "default/koldun-tiny", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)}, MaxTokens: openai.Int(200),
	}
	params.ResponseFormat.OfJSONSchema = &openai.ResponseFormatJSONSchemaParam{
		JSONSchema: openai.ResponseFormatJSONSchemaJSONSchemaParam{Name: "place", Strict: openai.Bool(true), Schema: schema},
	}
	check := func(text string) {
		t.Helper()
		var place struct {
			Kind   string
			Length int
			At     [][]float64
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		err := d.Decode(&place)
		if err != nil || d.More() || !slices.Contains([]string{"river", "bridge"}, place.Kind) || place.Length < 1 || place.Length > 50 || len(place.At) < 1 || len(place.At[0]) != 2 {
			t.Errorf("the answer is %q: %v", text, err)
		}
	}
	whole, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	if whole.Choices[0].FinishReason != "stop" {
		t.Fatalf("the answer is %s", whole.RawJSON())
	}
	check(whole.Choices[0].Message.Content)
	stream := client.Chat.Completions.NewStreaming(ctx, params)
	var text strings.Builder
	for stream.Next() {
		for _, c := range stream.Current().Choices {
			text.WriteString(c.Delta.Content)
		}
	}
	if stream.Err() != nil {
		t.Fatal(stream.Err())
	}
	check(text.String())

	// The tool takes a part of the model's context, which is small.
	call := openai.ChatCompletionNewParams{
		Model: params.Model, Messages: params.Messages, MaxTokens: params.MaxTokens,
		ToolChoice: openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String("required")},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: "place", Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{"n": map[string]any{"enum": []int{7}}}, "required": []string{"n"}},
		})},
		ParallelToolCalls: openai.Bool(false),
	}
	called, err := client.Chat.Completions.New(ctx, call)
	if err != nil {
		t.Fatal(err)
	}
	if c := called.Choices[0]; c.FinishReason != "tool_calls" || len(c.Message.ToolCalls) != 1 || c.Message.ToolCalls[0].Function.Name != "place" {
		t.Fatalf("the answer is %s", called.RawJSON())
	}
	var arguments struct{ N int }
	if err := json.Unmarshal([]byte(called.Choices[0].Message.ToolCalls[0].Function.Arguments), &arguments); err != nil || arguments.N != 7 {
		t.Errorf("the call is %s", called.RawJSON())
	}

	schema["not"] = map[string]any{}
	_, err = client.Chat.Completions.New(ctx, params)
	var refused *openai.Error
	if !errors.As(err, &refused) || refused.StatusCode != 400 || refused.Param != "response_format" || !strings.Contains(refused.Message, `"#/not"`) {
		t.Errorf("a schema that cannot be guaranteed gives %v", err)
	}
}
