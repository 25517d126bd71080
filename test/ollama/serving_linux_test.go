package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/dispatch"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/engineapi"
	"github.com/gorizond/koldun/internal/gateway"
	"github.com/gorizond/koldun/internal/httpserver/porttest"
	"github.com/gorizond/koldun/internal/names"
	koldun "github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/queue"
	"github.com/gorizond/koldun/internal/registry"
	"github.com/gorizond/koldun/internal/sidecar"
	"github.com/gorizond/koldun/internal/waittest"
	"github.com/gorizond/koldun/test/ollama"
)

const (
	namespace = "default"
	modelName = "tiny"
	modelID   = namespace + "/" + modelName
)

// A stack serves a model through NATS, dispatcher, sidecar and gateway.
type stack struct {
	tb     testing.TB
	nats   *natstest.Server
	bus    *bus.Bus
	url    string // of the gateway
	health string // of the sidecar
}

func newStack(tb testing.TB, engine *engineapi.Server) *stack {
	tb.Helper()
	s := &stack{tb: tb, nats: natstest.Start(tb)}
	s.bus = s.connect("test")
	if err := s.bus.Ensure(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	model := registry.Model{Version: 1, Namespace: namespace, Name: modelName, Created: time.Now()}
	if _, err := s.bus.Put(tb.Context(), names.ModelsBucket, names.ModelKey(namespace, modelName), model); err != nil {
		tb.Fatal(err)
	}
	dispatcher, runner := s.connect("dispatcher"), s.connect("sidecar")
	s.run(func(ctx context.Context) error {
		return dispatch.Run(ctx, dispatch.Config{Bus: dispatcher, Identity: "d", Logger: slog.New(slog.DiscardHandler)})
	})
	s.health = porttest.Address(tb)
	s.run(func(ctx context.Context) error {
		return sidecar.Run(ctx, sidecar.Config{
			Bus: runner, Engine: engine, Session: names.Session(namespace, modelName, ""), Runner: "r0", Model: modelID, Slots: ollama.Slots,
			Listen: s.health, Grace: time.Second, Logger: slog.New(slog.DiscardHandler),
		})
	})
	listen := porttest.Address(tb)
	s.url = "http://" + listen
	s.run(func(ctx context.Context) error {
		return gateway.Run(ctx, gateway.Config{
			Bus:    bus.Config{URL: s.nats.URL(), User: natstest.User, Password: natstest.Password, Name: "gateway"},
			Listen: listen, AllowAnonymous: true, Logger: slog.New(slog.DiscardHandler),
		})
	})
	return s
}

func (s *stack) connect(name string) *bus.Bus {
	s.tb.Helper()
	b, err := bus.Connect(s.tb.Context(), bus.Config{URL: s.nats.URL(), User: natstest.User, Password: natstest.Password, Name: name})
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(b.Close)
	return b
}

func (s *stack) run(server func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server(ctx) }()
	s.tb.Cleanup(func() {
		cancel()
		if err := waittest.Receive(s.tb, "a server to end", done); err != nil {
			s.tb.Error(err)
		}
	})
}

// readyz returns the health of the sidecar.
func (s *stack) readyz() (status int, text string) {
	resp, err := waittest.Client().Get("http://" + s.health + "/readyz")
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

func (s *stack) untilReady() {
	s.tb.Helper()
	waittest.Until(s.tb, "the sidecar to be ready", func() bool { status, _ := s.readyz(); return status == http.StatusOK })
	waittest.Until(s.tb, "the gateway to answer", func() bool {
		resp, err := waittest.Client().Get(s.url + "/v1/models/" + modelID)
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

func (s *stack) client() openai.Client {
	return openai.NewClient(option.WithBaseURL(s.url+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
}

func newEngine(tb testing.TB, url, served string) *engineapi.Server {
	tb.Helper()
	engine, err := engineapi.NewServer(engineapi.ServerConfig{
		URL: url, Model: served, Parameters: []string{"temperature", "seed"},
		Operations: []koldun.Operation{koldun.OperationChat, koldun.OperationCompletion, koldun.OperationEmbedding},
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(engine.Close)
	return engine
}

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

func TestServing(t *testing.T) {
	server := ollama.Start(t)
	s := newStack(t, newEngine(t, server.URL, ollama.Model))
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
		got, err := client.Embeddings.New(waittest.Context(t), openai.EmbeddingNewParams{
			Model: modelName, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"Hello", "Good bye"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Data) != 2 || len(got.Data[0].Embedding) != 128 || got.Data[1].Index != 1 || got.Data[0].Embedding[0] == got.Data[1].Embedding[0] {
			t.Errorf("got %d embeddings: %.200s", len(got.Data), got.RawJSON())
		}
	})
	t.Run("NotOffered", func(t *testing.T) {
		p := references(t)[0].params()
		p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "f"})}
		var refused *openai.Error
		if _, err := client.Chat.Completions.New(waittest.Context(t), p); !errors.As(err, &refused) || refused.Code != koldun.CodeUnsupported || refused.Param != "tools" {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("Cancels", func(t *testing.T) { s.cancel(t) })
	t.Run("IsKilled", func(t *testing.T) { s.kill(t, server) })
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
func (s *stack) kill(t *testing.T, server *ollama.Server) {
	t.Helper()
	stream, o := s.midAnswer(t, func(_ func(), stream textStream) {
		server.Kill()
		for stream.Next() {
		}
	}, func() {
		server.Run()
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
	server.Run()
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
	s := newStack(t, newEngine(t, server.URL, "other"))
	waittest.Until(t, "the sidecar to say which models there are", func() bool {
		status, text := s.readyz()
		return status == http.StatusServiceUnavailable && strings.Contains(text, `it does not list the model "other", but "`+ollama.Model+`:latest"`)
	})
	server.Copy("other")
	s.untilReady()
}
