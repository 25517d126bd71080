package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/gorizond/koldun/internal/artifact/convert"
	dirstore "github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/engine/llama/api"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
	wire "github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/test/waittest"
)

const tiny = "../../../../examples/models/koldun-tiny"

func tinyConfig(tb testing.TB) llama.Config {
	tb.Helper()
	dir := tb.TempDir()
	from, err := dirstore.Open(tiny)
	if err != nil {
		tb.Fatal(err)
	}
	to, err := dirstore.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := convert.Run(context.Background(), convert.Config{From: from, To: to, Name: "tiny", Weights: topology.Q40}); err != nil {
		tb.Fatal(err)
	}
	return llama.Config{
		Model: filepath.Join(dir, names.ModelFile("tiny", "q40")), Tokenizer: filepath.Join(dir, names.TokenizerFile("tiny")),
		Threads: 2, BufferFloatType: topology.Q80,
	}
}

// A running is a server that was started by Run.
type running struct {
	api, health string // URLs
	stop        context.CancelFunc
	ended       chan error
	log         *logBuffer
}

// logBuffer is written by the server and read by the test.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func run(tb testing.TB, c api.Config) *running {
	tb.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r := &running{stop: stop, ended: make(chan error, 1), log: &logBuffer{}}
	c.Logger = slog.New(slog.NewTextHandler(r.log, nil))
	c.HealthListen = "127.0.0.1:0"
	ready := make(chan struct{})
	c.Ready = func(api, health net.Addr) {
		r.api, r.health = "http://"+api.String(), "http://"+health.String()
		close(ready)
	}
	go func() { r.ended <- api.Run(ctx, c) }()
	tb.Cleanup(stop)
	select {
	case <-ready:
	case err := <-r.ended:
		tb.Fatalf("the server ended: %v", err)
	case <-waittest.Context(tb).Done():
		tb.Fatal("the server does not listen")
	}
	return r
}

func get(tb testing.TB, url string) (int, string) {
	tb.Helper()
	resp, err := waittest.Client().Get(url)
	if err != nil {
		tb.Fatal(err)
	}
	return resp.StatusCode, read(tb, resp)
}

type prompt struct {
	Messages []wire.Message
	Tokens   []int
	Q40      struct {
		Text   string
		Tokens []int
	}
}

// prompts reads reference.json, in which roles and contents are all there is.
func prompts(tb testing.TB) []prompt {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(tiny, "reference.json"))
	if err != nil {
		tb.Fatal(err)
	}
	var r struct{ Prompts []prompt }
	if err := json.Unmarshal(raw, &r); err != nil {
		tb.Fatal(err)
	}
	return r.Prompts
}

func TestRun(t *testing.T) {
	r := run(t, api.Config{Engine: tinyConfig(t), Sampling: llama.Sampling{TopP: .9, Seed: 1}})
	t.Run("Health", func(t *testing.T) {
		if status, body := get(t, r.health+"/healthz"); status != 200 {
			t.Errorf("healthz: %d %s", status, body)
		}
		waittest.Until(t, "the engine is ready", func() bool {
			status, body := get(t, r.health+"/readyz")
			return status == 200 && body == "engine: ok\n"
		})
		if status, _ := get(t, r.api+"/healthz"); status != 404 {
			t.Errorf("the API answers health checks: %d", status)
		}
	})
	t.Run("SidecarClient", func(t *testing.T) {
		c, err := engineapi.New(r.api)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, p := range prompts(t) {
			var text strings.Builder
			result, err := c.Do(waittest.Context(t), engineapi.Chat{Messages: p.Messages}, engineapi.Options{}, func(d engineapi.Delta) error {
				text.WriteString(d.Text)
				return nil
			})
			if err != nil || text.String() != p.Q40.Text || result.FinishReason != wire.FinishStop ||
				result.Usage.PromptTokens != len(p.Tokens) || result.Usage.CompletionTokens != len(p.Q40.Tokens) || result.Usage.Cached() == nil {
				t.Errorf("answer is %q, %+v, %v; want %q", text.String(), result, err, p.Q40.Text)
			}
		}
	})
	t.Run("OpenAIClient", func(t *testing.T) {
		c := openai.NewClient(option.WithBaseURL(r.api+"/v1"), option.WithAPIKey("none"))
		models, err := c.Models.List(waittest.Context(t))
		if err != nil || len(models.Data) != 1 || models.Data[0].ID != "dllama_model_tiny_q40.m" {
			t.Fatalf("models are %+v, %v", models, err)
		}
		params := openai.ChatCompletionNewParams{
			Model: models.Data[0].ID, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is 2+2?")},
		}
		answer, err := c.Chat.Completions.New(waittest.Context(t), params)
		if err != nil || answer.Choices[0].Message.Content != "2 + 2 = 4." || answer.Choices[0].FinishReason != "stop" || answer.Usage.TotalTokens != 27 {
			t.Errorf("answer is %+v, %v", answer, err)
		}
		stream := c.Chat.Completions.NewStreaming(waittest.Context(t), params)
		var all openai.ChatCompletionAccumulator
		for stream.Next() {
			all.AddChunk(stream.Current())
		}
		if stream.Err() != nil || all.Choices[0].Message.Content != "2 + 2 = 4." || all.Choices[0].FinishReason != "stop" {
			t.Errorf("stream is %+v, %v", all.ChatCompletion, stream.Err())
		}
		params.Messages[0] = openai.UserMessage(strings.Repeat("a long question ", 1000))
		_, err = c.Chat.Completions.New(waittest.Context(t), params)
		var refused *openai.Error
		if !errors.As(err, &refused) || refused.StatusCode != http.StatusBadRequest || refused.Code != wire.CodeContextLength {
			t.Errorf("a prompt that is too long: %v", err)
		}
	})
	t.Run("Metrics", func(t *testing.T) {
		for _, want := range []string{
			`koldun_engine_requests_total{outcome="stop"} 14`, `koldun_engine_requests_total{outcome="refused"} 1`,
			"koldun_engine_completion_tokens_total 460", "koldun_engine_requests_in_flight 0", "koldun_engine_prompt_seconds_count 14",
		} {
			waittest.Until(t, want, func() bool { // a stream is counted after its client has seen its end
				_, body := get(t, r.health+"/metrics")
				return strings.Contains(body, want+"\n")
			})
		}
	})
	r.stop()
	if err := waittest.Receive(t, "the server ends", r.ended); err != nil {
		t.Errorf("Run: %v", err)
	}
	for _, secret := range []string{"2+2", "2 + 2", "Koldun turns", "Ada"} {
		if strings.Contains(r.log.String(), secret) {
			t.Errorf("the log holds %q:\n%s", secret, r.log)
		}
	}
	if _, err := waittest.Client().Get(r.api + "/v1/models"); err == nil {
		t.Error("the API still answers")
	}
	if _, err := waittest.Client().Get(r.health + "/healthz"); err == nil {
		t.Error("the health server still answers")
	}
}

// TestShutdown ends the server in the middle of an answer.
func TestShutdown(t *testing.T) {
	c := tinyConfig(t)
	for name, k := range map[string]struct {
		grace time.Duration
		want  string
	}{
		"GraceToFinish": {time.Hour, "[DONE]"},
		"NoGrace":       {time.Nanosecond, `"error":{"message":"the server is shutting down"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, api.Config{Engine: c, Grace: k.grace, Model: "m"})
			body := `{"messages":[{"role":"user","content":"Count to 100"}],"stream":true,"temperature":0}`
			resp := waittest.Receive(t, "the stream begins", start(waittest.Context(t), t, r.api, body))
			if resp == nil {
				t.Fatal("no answer")
			}
			r.stop()
			got := read(t, resp)
			quick := k.grace < time.Second && strings.Contains(got, "[DONE]") // it was done before the end came
			if !strings.Contains(got, k.want) && !quick {
				t.Errorf("the stream is %s", got)
			}
			if err := waittest.Receive(t, "the server ends", r.ended); err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	good := api.Config{Engine: tinyConfig(t), Logger: slog.New(slog.DiscardHandler)}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	cases := map[string]struct {
		change func(*api.Config)
		kind   fault.Kind
		says   string
	}{
		"PortTaken":   {func(c *api.Config) { c.Port = taken.Addr().(*net.TCPAddr).Port }, fault.Conflict, "in use"},
		"HealthTaken": {func(c *api.Config) { c.HealthListen = taken.Addr().String() }, fault.Conflict, "in use"},
		"Port":        {func(c *api.Config) { c.Port = 65536 }, fault.Invalid, "65536"},
		"Host":        {func(c *api.Config) { c.Host = "no.such.host.invalid" }, fault.Invalid, "no.such.host.invalid"},
		"Temperature": {func(c *api.Config) { c.Sampling.Temperature = -1 }, fault.Invalid, "temperature"},
		"TopP":        {func(c *api.Config) { c.Sampling.TopP = 1.5 }, fault.Invalid, "top-p"},
		"Model":       {func(c *api.Config) { c.Engine.Model = "none.m" }, fault.NotFound, `"none.m"`},
		"ModelHealth": {func(c *api.Config) { c.Engine.Model, c.HealthListen = "none.m", "127.0.0.1:0" }, fault.NotFound, `"none.m"`},
		"Buffers":     {func(c *api.Config) { c.Engine.BufferFloatType = topology.F32 }, fault.Unsupported, "q80"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := good
			c.change(&cfg)
			err := api.Run(context.Background(), cfg)
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("err = %v (%s), want %s with %q", err, fault.KindOf(err), c.kind, c.says)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := api.Run(ctx, good); err != nil && !fault.Is(err, fault.Interrupted) {
		t.Errorf("with a context that has ended: %v", err)
	}
}
