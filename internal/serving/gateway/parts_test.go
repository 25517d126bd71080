package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"

	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

// piece sends a piece of the answer with what it holds beside its text.
func (s *responder) piece(text, raw string) {
	s.send(queue.Frame{Kind: queue.FrameDelta, Text: text, Raw: json.RawMessage(raw)})
}

// callsTools is an answer with thoughts, text with log probabilities, and two
// calls in pieces.
func callsTools(_ context.Context, s *responder) {
	s.started()
	s.piece("", `{"reasoning":"Hm"}`)
	s.piece("Let", `{"reasoning":".","logprobs":{"content":[{"token":"Let","logprob":-0.5,"bytes":null,"top_logprobs":[]}],"refusal":null}}`)
	s.piece(" me", `{"logprobs":{"content":[{"token":" me","logprob":-1,"bytes":null,"top_logprobs":[]}],"refusal":null}}`)
	s.piece("", `{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"weather","arguments":""}}]}`)
	s.piece("", `{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":"}}]}`)
	s.piece("", `{"tool_calls":[{"index":0,"function":{"arguments":"\"Brno\"}"}},{"index":1,"id":"call_2","type":"function","function":{"name":"time","arguments":"{}"}}]}`)
	s.end("tool_calls", 5, 7)
}

func TestOfficialClientCallsTools(t *testing.T) {
	w := newWorld(t, nil)
	client := w.client()
	runner := startRunner(t, w.bus, tinySession, callsTools)
	w.putOffer("r1", queue.RunnerIdle, "logprobs,tools")
	params := openai.ChatCompletionNewParams{
		Model: "tiny", Logprobs: openai.Bool(true),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("weather?")},
		Tools:    []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "weather"})},
	}
	check := func(t *testing.T, c openai.ChatCompletionChoice) {
		t.Helper()
		calls := c.Message.ToolCalls
		if c.Message.Content != "Let me" || c.FinishReason != "tool_calls" || len(c.Logprobs.Content) != 2 || c.Logprobs.Content[1].Token != " me" || len(calls) != 2 {
			t.Fatalf("got %s", c.RawJSON())
		}
		if calls[0].ID != "call_1" || calls[0].Function.Name != "weather" || calls[0].Function.Arguments != `{"city":"Brno"}` || calls[1].ID != "call_2" || calls[1].Function.Arguments != "{}" {
			t.Errorf("calls %+v", calls)
		}
	}
	t.Run("Whole", func(t *testing.T) {
		got, err := client.Chat.Completions.New(waittest.Context(t), params)
		if err != nil {
			t.Fatal(err)
		}
		check(t, got.Choices[0])
		if !strings.Contains(got.RawJSON(), `"reasoning_content":"Hm."`) {
			t.Errorf("no thoughts: %s", got.RawJSON())
		}
	})
	t.Run("Stream", func(t *testing.T) {
		stream := client.Chat.Completions.NewStreaming(waittest.Context(t), params)
		var all openai.ChatCompletionAccumulator
		var thoughts strings.Builder
		for stream.Next() {
			chunk := stream.Current()
			all.AddChunk(chunk)
			for _, c := range chunk.Choices {
				var more string
				_ = json.Unmarshal([]byte(c.Delta.JSON.ExtraFields["reasoning_content"].Raw()), &more)
				thoughts.WriteString(more)
			}
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		check(t, all.Choices[0])
		if thoughts.String() != "Hm." {
			t.Errorf("thoughts %q", thoughts.String())
		}
	})
	t.Run("Completion", func(t *testing.T) {
		got, err := client.Completions.New(waittest.Context(t), openai.CompletionNewParams{
			Model: "tiny", Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("weather?")}, Logprobs: openai.Int(2),
		})
		if err != nil {
			t.Fatal(err)
		}
		l := got.Choices[0].Logprobs
		if len(l.Tokens) != 2 || l.Tokens[1] != " me" || l.TokenLogprobs[1] != -1 || l.TextOffset[1] != 3 {
			t.Errorf("got %s", got.RawJSON())
		}
		if queued := runner.seen()[2]; queued.Features != "logprobs" || !strings.Contains(string(queued.Body), `"top_logprobs":2`) {
			t.Errorf("features %q, body %s", queued.Features, queued.Body)
		}
	})
	t.Run("WhatTheRunnerGets", func(t *testing.T) {
		got := runner.seen()[0]
		if got.Features != "logprobs,tools" || !strings.Contains(string(got.Body), `"tools":[{"function":{"name":"weather"},"type":"function"}]`) {
			t.Errorf("features %q, body %s", got.Features, got.Body)
		}
	})
	t.Run("NotOffered", func(t *testing.T) {
		params := params
		params.ResponseFormat.OfJSONObject = &openai.ResponseFormatJSONObjectParam{}
		_, err := client.Chat.Completions.New(waittest.Context(t), params)
		wantAPIError(t, err, 400, "unsupported_parameter", "response_format")
	})
}

// Thoughts that the engine separates are shown as the client wants, like those
// between tags.
func TestSeparatedThoughts(t *testing.T) {
	w := newWorld(t, nil)
	startRunner(t, w.bus, tinySession, func(_ context.Context, s *responder) {
		s.started()
		s.piece("", `{"reasoning":"Hm, "}`)
		s.piece("", `{"reasoning":"two."}`)
		s.text("Two.")
		s.end("stop", 1, 3)
	})
	for more, want := range map[string][2]string{
		"":                            {"Hm, two.", "Two."},
		`,"separate_reasoning":false`: {"", "<think>\nHm, two.\n</think>\n\nTwo."},
		`,"include_reasoning":false`:  {"", "Two."},
	} {
		var whole struct {
			Choices []struct {
				Message struct {
					Content   string `json:"content"`
					Reasoning string `json:"reasoning_content"`
				}
			}
		}
		_, body := w.do("POST", "/v1/chat/completions", chatBody(more))
		decode(t, body, &whole)
		if got := whole.Choices[0].Message; got.Reasoning != want[0] || got.Content != want[1] {
			t.Errorf("%s: %+v", more, got)
		}
	}
}
