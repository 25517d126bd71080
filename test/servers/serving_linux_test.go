package servers_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/names"
	koldun "github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/llamacpp"
	"github.com/gorizond/koldun/test/ollama"
	"github.com/gorizond/koldun/test/waittest"
)

// A reference is a prompt with the greedy answer of the tiny model.
type reference struct {
	Messages []struct{ Role, Content string } `json:"messages"`
	F32      struct{ Text string }            `json:"f32"`
}

func references(tb testing.TB) []reference {
	tb.Helper()
	data, err := os.ReadFile("../../examples/models/koldun-tiny/reference.json")
	if err != nil {
		tb.Fatal(err)
	}
	var all struct{ Prompts []reference }
	if err := json.Unmarshal(data, &all); err != nil || len(all.Prompts) == 0 {
		tb.Fatal("no references", err)
	}
	return all.Prompts
}

func (r reference) params() openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: modelName, Temperature: openai.Float(0)}
	for _, m := range r.Messages {
		switch m.Role {
		case "system":
			p.Messages = append(p.Messages, openai.SystemMessage(m.Content))
		case "assistant":
			p.Messages = append(p.Messages, openai.AssistantMessage(m.Content))
		default:
			p.Messages = append(p.Messages, openai.UserMessage(m.Content))
		}
	}
	return p
}

// endless makes the model write until the context is full.
func endless() openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: modelName, MaxTokens: openai.Int(100000), Temperature: openai.Float(2)}
	p.Messages = append(p.Messages, openai.UserMessage("Hello"))
	return p
}

// A server is a real one with the tiny model.
type server struct {
	profile, url, served string
	slots                int
	run, kill            func()
}

// servers are those of the test, by their profiles.
var servers = map[string]func(t *testing.T) server{
	"ollama": func(t *testing.T) server {
		s := ollama.Start(t)
		return server{"ollama", s.URL, ollama.Model, ollama.Slots, s.Run, s.Kill}
	},
	"llama.cpp": func(t *testing.T) server {
		program := llamacpp.Binary(t, "go test ./test/servers")
		s := llamacpp.Start(t, program, ollama.Start(t).Weights())
		return server{"llama.cpp", s.URL, llamacpp.Model, llamacpp.Slots, s.Run, s.Kill}
	},
}

func TestServing(t *testing.T) {
	for name, start := range servers {
		t.Run(name, func(t *testing.T) { testServing(t, start(t)) })
	}
}

// testServing tests what the profile says that the server offers, and that the rest
// is refused.
func testServing(t *testing.T, server server) {
	o := offered(t, server.profile, server.url, server.served, server.slots)
	s := newStack(t, o)
	s.untilReady()
	client := s.client()
	t.Run("Answers", func(t *testing.T) {
		var all sync.WaitGroup
		for i, r := range references(t) {
			all.Go(func() { // more at once than there are slots
				got, err := client.Chat.Completions.New(waittest.Context(t), r.params())
				if err != nil {
					t.Errorf("prompt %d: %v", i, err)
					return
				}
				c := got.Choices[0]
				if c.Message.Content != r.F32.Text || c.FinishReason != "stop" || got.Model != modelID || got.Usage.CompletionTokens == 0 {
					t.Errorf("prompt %d: %s, want %q", i, got.RawJSON(), r.F32.Text)
				}
			})
		}
		all.Wait()
	})
	t.Run("Streams", func(t *testing.T) {
		r := references(t)[0]
		stream := client.Chat.Completions.NewStreaming(waittest.Context(t), r.params())
		var text strings.Builder
		for stream.Next() {
			for _, c := range stream.Current().Choices {
				text.WriteString(c.Delta.Content)
			}
		}
		if err := stream.Err(); err != nil || text.String() != r.F32.Text {
			t.Errorf("%q, %v", text.String(), err)
		}
	})
	t.Run("Embeddings", func(t *testing.T) {
		s.embeddings(t, slices.Contains(o.engine.API.Operations, string(koldun.OperationEmbedding)))
	})
	t.Run("Logprobs", func(t *testing.T) {
		s.logprobs(t, slices.Contains(o.engine.API.Features, string(koldun.FeatureLogprobs)))
	})
	t.Run("Cancels", func(t *testing.T) { s.cancel(t) })
	t.Run("IsKilled", func(t *testing.T) { s.kill(t, server) })
}

// embeddings are those of the server, or refused.
func (s *stack) embeddings(t *testing.T, offered bool) {
	t.Helper()
	client := s.client()
	got, err := client.Embeddings.New(waittest.Context(t), openai.EmbeddingNewParams{
		Model: modelName, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"Hello", "Good bye"}},
	})
	if !offered {
		s.wantRefused(t, err, "operation_not_supported", "model")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Data) != 2 || len(got.Data[0].Embedding) != 128 || got.Data[1].Index != 1 || got.Data[0].Embedding[0] == got.Data[1].Embedding[0] {
		t.Errorf("got %d embeddings: %.200s", len(got.Data), got.RawJSON())
	}
}

// logprobs are those of the server, or refused.
func (s *stack) logprobs(t *testing.T, offered bool) {
	t.Helper()
	p := references(t)[0].params()
	p.Logprobs, p.TopLogprobs, p.MaxTokens = openai.Bool(true), openai.Int(2), openai.Int(4)
	client := s.client()
	got, err := client.Chat.Completions.New(waittest.Context(t), p)
	if !offered {
		s.wantRefused(t, err, koldun.CodeUnsupported, "logprobs")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if l := got.Choices[0].Logprobs.Content; len(l) == 0 || len(l[0].TopLogprobs) != 2 || l[0].Logprob > 0 {
		t.Errorf("the log probabilities are %s", got.RawJSON())
	}
}

// wantRefused checks that the gateway refused a request for a parameter.
func (s *stack) wantRefused(t *testing.T, err error, code, parameter string) {
	t.Helper()
	var refused *openai.Error
	if !errors.As(err, &refused) || refused.Code != code || refused.Param != parameter {
		t.Errorf("err = %v, want %q for %q", err, code, parameter)
	}
}

// midAnswer does something in the middle of a long answer, and returns its stream
// and outcome. The answer may be short and end first: then it undoes that, and tries
// again a few times.
func (s *stack) midAnswer(t *testing.T, do func(cancel func(), stream textStream), undo func()) (textStream, queue.Outcome) {
	t.Helper()
	for range 8 {
		ctx, cancel := context.WithCancel(waittest.Context(t))
		t.Cleanup(cancel)
		stream, id := s.begin(ctx, t)
		do(cancel, stream)
		if o := s.outcome(t, id); o.State != queue.Completed {
			return stream, o
		}
		undo()
	}
	t.Fatal("each answer was whole before it could be disturbed")
	return nil, queue.Outcome{}
}

// cancel leaves a stream after its first text, and sees the request end.
func (s *stack) cancel(t *testing.T) {
	t.Helper()
	_, o := s.midAnswer(t, func(cancel func(), stream textStream) {
		cancel()
		_ = stream.Close()
	}, func() {})
	if o.State != queue.Cancelled {
		t.Errorf("outcome %+v, want cancelled", o)
	}
}

// kill ends the server in mid-answer: the stream ends in an error, the request has
// one outcome, and the runner is ready again with the server.
func (s *stack) kill(t *testing.T, server server) {
	t.Helper()
	stream, o := s.midAnswer(t, func(_ func(), stream textStream) {
		server.kill()
		for stream.Next() {
		}
	}, func() {
		server.run()
		s.untilReady()
	})
	if err := stream.Err(); err == nil {
		t.Error("the stream ended as if it were whole")
	}
	if o.State != queue.Failed || o.Error == nil || o.Error.Code != queue.CodeInterrupted || o.Attempts != 1 {
		t.Errorf("outcome %+v, want one interrupted attempt", o)
	}
	waittest.Until(t, "the sidecar to say why it is not ready", func() bool {
		status, text := s.readyz()
		return status == http.StatusServiceUnavailable && strings.Contains(text, engineapi.ErrLoading.Error())
	})
	server.run()
	s.untilReady()
	r := references(t)[0]
	client := s.client()
	got, err := client.Chat.Completions.New(waittest.Context(t), r.params())
	if err != nil || got.Choices[0].Message.Content != r.F32.Text {
		t.Errorf("after the restart: %v", err)
	}
}

// textStream is what the tests need of a stream of the client.
type textStream interface {
	Next() bool
	Err() error
	Close() error
}

// begin begins a long answer, and returns when its first text has come, with the id
// of the request.
func (s *stack) begin(ctx context.Context, t *testing.T) (textStream, string) {
	t.Helper()
	var response *http.Response
	client := s.client()
	stream := client.Chat.Completions.NewStreaming(ctx, endless(), option.WithResponseInto(&response))
	for stream.Next() {
		if c := stream.Current().Choices; len(c) > 0 && c[0].Delta.Content != "" {
			return stream, response.Header.Get("X-Request-Id")
		}
	}
	t.Fatalf("no text: %v", stream.Err())
	return nil, ""
}

func (s *stack) outcome(t *testing.T, id string) queue.Outcome {
	t.Helper()
	ref := queue.Ref{ID: id, Session: names.Session(namespace, modelName, ""), Tenant: "anonymous"}
	var o queue.Outcome
	waittest.Until(t, "the outcome of "+id, func() bool {
		var err error
		o, err = queue.New(s.bus).Outcome(waittest.Context(t), ref)
		return err == nil
	})
	return o
}

// A server that has other models only is not ready, and the reason names them.
func TestModelIsMissing(t *testing.T) {
	server := ollama.Start(t)
	s := newStack(t, offered(t, "ollama", server.URL, "other", ollama.Slots))
	waittest.Until(t, "the sidecar to say which models there are", func() bool {
		status, text := s.readyz()
		return status == http.StatusServiceUnavailable && strings.Contains(text, `it does not list the model "other", but "`+ollama.Model+`:latest"`)
	})
	server.Copy("other")
	s.untilReady()
}
