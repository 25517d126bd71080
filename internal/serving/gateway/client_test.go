package gateway

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

// client returns OpenAI's official client, configured as users do.
func (w *world) client(o ...option.RequestOption) openai.Client {
	return openai.NewClient(append([]option.RequestOption{
		option.WithBaseURL(w.url + "/v1/"), option.WithAPIKey("sk-any"), option.WithMaxRetries(0),
	}, o...)...)
}

func question(model string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: model,
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("be brief"), openai.UserMessage("What is Koldun?"),
		},
	}
}

func TestOfficialClient(t *testing.T) {
	w := newWorld(t, nil)
	client := w.client()
	runner := startRunner(t, w.bus, tinySession, replies("A", " little", " \"magic\"\n", "žába", " ", "."))
	const want = "A little \"magic\"\nžába ."

	t.Run("ListModels", func(t *testing.T) {
		page, err := client.Models.List(waittest.Context(t))
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Data) != 1 || page.Data[0].ID != "default/tiny" || page.Data[0].OwnedBy != "koldun" || page.Data[0].Created != modelTime.Unix() {
			t.Errorf("got %+v", page.Data)
		}
	})
	t.Run("GetModel", func(t *testing.T) {
		for _, id := range []string{"default/tiny", "tiny"} {
			m, err := client.Models.Get(waittest.Context(t), id)
			if err != nil {
				t.Fatal(err)
			}
			if m.ID != "default/tiny" {
				t.Errorf("got %+v", m)
			}
		}
	})
	t.Run("Chat", func(t *testing.T) {
		begun := time.Now().Unix()
		got, err := client.Chat.Completions.New(waittest.Context(t), question("tiny"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(got.ID, "chatcmpl-") || got.Model != "default/tiny" || got.Object != "chat.completion" ||
			got.Created < begun || got.Created > time.Now().Unix() {
			t.Errorf("got %+v", got)
		}
		if len(got.Choices) != 1 || got.Choices[0].Index != 0 || got.Choices[0].Message.Content != want ||
			got.Choices[0].Message.Role != "assistant" || got.Choices[0].FinishReason != "stop" {
			t.Errorf("choices = %+v", got.Choices)
		}
		if u := got.Usage; u.PromptTokens != 5 || u.CompletionTokens != 6 || u.TotalTokens != 11 {
			t.Errorf("usage = %+v", u)
		}
	})
	t.Run("Stream", func(t *testing.T) {
		params := question("default/tiny")
		params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
		stream := client.Chat.Completions.NewStreaming(waittest.Context(t), params)
		var acc openai.ChatCompletionAccumulator
		var roles int
		for stream.Next() {
			c := stream.Current()
			if !acc.AddChunk(c) {
				t.Errorf("the accumulator refuses %+v", c)
			}
			if len(c.Choices) > 0 && c.Choices[0].Delta.Role != "" {
				roles++
			}
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		if got := acc.Choices[0]; got.Message.Content != want || got.FinishReason != "stop" || got.Message.Role != "assistant" {
			t.Errorf("got %+v", got)
		}
		if acc.Usage.TotalTokens != 11 || roles != 1 || acc.Model != "default/tiny" || !strings.HasPrefix(acc.ID, "chatcmpl-") {
			t.Errorf("usage %+v, %d roles, %q, %q", acc.Usage, roles, acc.Model, acc.ID)
		}
	})
	t.Run("WhatTheRunnerGets", func(t *testing.T) {
		seen := runner.seen()
		if len(seen) != 2 {
			t.Fatalf("%d requests, want 2", len(seen))
		}
		q := seen[1]
		if q.Session != tinySession || q.Model != "default/tiny" || q.Tenant != "anonymous" || q.Timeout != 10*time.Minute ||
			!q.Deadline.Equal(q.Created.Add(time.Hour)) || q.Affinity == "" || q.Affinity != seen[0].Affinity {
			t.Errorf("got %+v", q)
		}
		wantBody := `{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"What is Koldun?"}],` +
			`"model":"default/tiny","stream":true,"stream_options":{"include_usage":true}}`
		if d := cmp.Diff(wantBody, string(q.Body)); d != "" {
			t.Error(d)
		}
	})
	t.Run("UnknownModel", func(t *testing.T) {
		_, err := client.Chat.Completions.New(waittest.Context(t), question("nope"))
		wantAPIError(t, err, 404, "model_not_found", "model")
	})
	t.Run("BadParameter", func(t *testing.T) {
		params := question("tiny")
		params.N = openai.Int(9)
		_, err := client.Chat.Completions.New(waittest.Context(t), params)
		wantAPIError(t, err, 400, "invalid_value", "n")
		stream := client.Chat.Completions.NewStreaming(waittest.Context(t), params)
		for stream.Next() {
			t.Error("a chunk came")
		}
		wantAPIError(t, stream.Err(), 400, "invalid_value", "n")
	})
}

func TestOfficialClientWithoutToken(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.AllowAnonymous = false })
	client := w.client()
	_, err := client.Models.List(waittest.Context(t))
	wantAPIError(t, err, 401, "invalid_api_key", "")
}

// TestOfficialClientLeaves cancels a request during its answer.
func TestOfficialClientLeaves(t *testing.T) {
	w := newWorld(t, nil)
	stopped := make(chan struct{})
	runner := startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		s.started()
		s.text("first")
		<-ctx.Done()
		close(stopped)
	})
	client := w.client()
	ctx, cancel := context.WithCancel(waittest.Context(t))
	defer cancel()
	stream := client.Chat.Completions.NewStreaming(ctx, question("tiny"))
	defer func() { _ = stream.Close() }()
	for stream.Next() {
		if c := stream.Current(); len(c.Choices) > 0 && c.Choices[0].Delta.Content == "first" {
			break
		}
	}
	cancel()
	waittest.Receive(t, "the cancellation reaches the runner", stopped)
	if reason, _ := runner.cancellation(runner.seen()[0].ID); reason != "disconnected" {
		t.Errorf("reason = %q", reason)
	}
}

func TestOfficialClientSeesABrokenStream(t *testing.T) {
	w := newWorld(t, nil)
	startRunner(t, w.bus, tinySession, func(_ context.Context, s *responder) {
		s.started()
		s.text("first")
		s.fail(queue.CodeInterrupted, "runner 10.0.0.7 died")
	})
	client := w.client()
	stream := client.Chat.Completions.NewStreaming(waittest.Context(t), question("tiny"))
	var text string
	for stream.Next() {
		if c := stream.Current(); len(c.Choices) > 0 {
			text += c.Choices[0].Delta.Content
			if c.Choices[0].FinishReason != "" {
				t.Error("a broken answer has a finish reason")
			}
		}
	}
	if err := stream.Err(); err == nil || !strings.Contains(err.Error(), "interrupted") || strings.Contains(err.Error(), "10.0.0.7") {
		t.Errorf("err = %v", err)
	}
	if text != "first" {
		t.Errorf("text = %q", text)
	}
}

func wantAPIError(t *testing.T, err error, status int, code, param string) {
	t.Helper()
	var e *openai.Error
	if !errors.As(err, &e) {
		t.Fatalf("err = %v, want an API error", err)
	}
	if e.StatusCode != status || e.Code != code || e.Param != param || e.Message == "" || e.Type == "" {
		t.Errorf("got %d %q %q %q %q, want %d %q %q", e.StatusCode, e.Code, e.Param, e.Type, e.Message, status, code, param)
	}
}
