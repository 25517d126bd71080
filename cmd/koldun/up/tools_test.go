package up_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
)

// checkToolLoop has the quickstart call a tool twice, whole and streamed, gives it
// the results, and gets an answer in words.
func checkToolLoop(ctx context.Context, t *testing.T, client openai.Client) {
	t.Helper()
	params := openai.ChatCompletionNewParams{
		Model: "default/koldun-tiny", MaxTokens: openai.Int(100), ParallelToolCalls: openai.Bool(false),
		Messages:   []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
		ToolChoice: openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String("required")},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: "look", Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{"up": map[string]any{"type": "boolean"}}, "required": []string{"up"}},
		})},
	}
	// add checks the one call of an answer, and adds it with its result to the history.
	add := func(answer openai.ChatCompletion) {
		t.Helper()
		if len(answer.Choices) != 1 || answer.Choices[0].FinishReason != "tool_calls" || len(answer.Choices[0].Message.ToolCalls) != 1 {
			t.Fatalf("the answer is %s", answer.RawJSON())
		}
		call := answer.Choices[0].Message.ToolCalls[0]
		var arguments struct{ Up *bool }
		if err := json.Unmarshal([]byte(call.Function.Arguments), &arguments); err != nil || arguments.Up == nil || call.Function.Name != "look" || call.ID == "" {
			t.Fatalf("the call is %+v: %v", call, err)
		}
		params.Messages = append(params.Messages, answer.Choices[0].Message.ToParam(), openai.ToolMessage("a river", call.ID))
	}
	whole, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	add(*whole)

	stream := client.Chat.Completions.NewStreaming(ctx, params)
	var streamed openai.ChatCompletionAccumulator
	for stream.Next() {
		streamed.AddChunk(stream.Current())
	}
	if stream.Err() != nil {
		t.Fatal(stream.Err())
	}
	add(streamed.ChatCompletion)

	params.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String("none")}
	last, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	if c := last.Choices[0]; c.Message.Content == "" || len(c.Message.ToolCalls) != 0 || c.FinishReason == "tool_calls" {
		t.Errorf("the last answer is %s", last.RawJSON())
	}
}

// checkOwnCall has the tiny model choose a tool by itself, and say what it got.
func checkOwnCall(ctx context.Context, t *testing.T, client openai.Client) {
	t.Helper()
	params := openai.ChatCompletionNewParams{
		Model: "default/koldun-tiny", MaxTokens: openai.Int(100), Temperature: openai.Float(0),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is the weather in Paris?")},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: "get_weather", Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []string{"city"}},
		})},
	}
	answer, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	calls := answer.Choices[0].Message.ToolCalls
	if len(calls) != 1 || calls[0].Function.Name != "get_weather" || calls[0].Function.Arguments != `{"city": "Paris"}` {
		t.Fatalf("the answer is %s", answer.RawJSON())
	}
	params.Messages = append(params.Messages, answer.Choices[0].Message.ToParam(), openai.ToolMessage(`{"temperature": 21, "sky": "sunny"}`, calls[0].ID))
	if answer, err = client.Chat.Completions.New(ctx, params); err != nil {
		t.Fatal(err)
	}
	if text := answer.Choices[0].Message.Content; !strings.Contains(text, "temperature 21, sky sunny") {
		t.Errorf("the last answer is %s", answer.RawJSON())
	}
}
