package main_test

import (
	"context"
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
