package sidecar_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/sidecar"
)

// restarter restarts a fake engine, as a supervisor does.
type restarter struct{ restart func() error }

func (r restarter) Restart(context.Context) error { return r.restart() }

func (r restarter) State(context.Context) (string, error) { return "starting", nil }

func (r restarter) Session(context.Context, string) (string, error) {
	return "", fault.Errorf(fault.Unsupported, "it names no sessions")
}

// configured runs a sidecar with changes to its configuration.
func (w *world) configured(runner string, e *enginetest.Engine, change func(*sidecar.Config)) *process {
	w.t.Helper()
	client, err := engineapi.New(e.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.start(runner, func(ctx context.Context, b *bus.Bus) error {
		cfg := sidecar.Config{
			Bus: b, Engine: client, Session: session, Runner: runner, Model: "ns/model",
			TTL: 3 * time.Second, Grace: 3 * time.Second, Logger: w.logger(runner),
		}
		change(&cfg)
		return sidecar.Run(ctx, cfg)
	})
}

// Each phase has its own limit, and an engine that exceeds one is restarted.
func TestEngineHangs(t *testing.T) {
	cases := map[string]struct {
		timeouts sidecar.Timeouts
		before   int    // pieces that pass before it hangs
		code     string // of the error; "" if the request is answered elsewhere or later
	}{
		"InThePrompt":   {sidecar.Timeouts{First: 10 * time.Second, Between: time.Minute}, 0, ""},
		"BetweenTokens": {sidecar.Timeouts{First: time.Minute, Between: 10 * time.Second}, 1, queue.CodeInterrupted},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.dispatcher("d1")
			var mu sync.Mutex
			hangs, restarts := false, 0
			gate := make(chan struct{}, c.before)
			for range c.before {
				gate <- struct{}{}
			}
			e := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
				mu.Lock()
				defer mu.Unlock()
				if hangs {
					return enginetest.Reply{Pieces: []string{"a ", "b"}, Gate: gate}
				}
				return enginetest.Echo(r)
			})
			w.configured("r1", e, func(cfg *sidecar.Config) {
				cfg.Timeouts = c.timeouts
				cfg.Supervisor = restarter{func() error {
					mu.Lock()
					hangs = false
					restarts++
					mu.Unlock()
					e.Stop()
					return e.Run()
				}}
			})
			w.runner("r1", idle)
			mu.Lock()
			hangs = true
			mu.Unlock()
			req := w.send(chat("req_1", "hello"))
			if c.code == "" {
				req.want("hello")
			} else {
				req.wantError(queue.Failed, c.code)
			}
			w.send(chat("req_2", "again")).want("again")
			mu.Lock()
			defer mu.Unlock()
			if restarts != 1 {
				t.Errorf("restarted %d times, want once", restarts)
			}
		})
	}
}

// The span of an attempt continues the trace of the request. Spans and logs contain no
// text of prompts or answers.
func TestTracesAndLogsWithoutText(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	log := &lockedBuffer{}
	e := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		reply := enginetest.Echo(r)
		if r.Last() == "secret that breaks" {
			reply.BreakAfter = 1
		}
		return reply
	})
	w.configured("r1", e, func(cfg *sidecar.Config) {
		cfg.Tracer = provider.Tracer("test")
		cfg.Logger = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	r := chat("req_1", "secret words", `,"max_tokens":7`)
	r.Traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	w.send(r).want("secret words")
	w.send(chat("req_2", "secret that breaks")).wantError(queue.Failed, queue.CodeInterrupted)
	w.runner("r1", idle)

	got := map[string]tracetest.SpanStub{}
	for _, s := range spans.GetSpans() {
		for _, a := range s.Attributes {
			if strings.Contains(a.Value.String(), "secret") {
				t.Errorf("attribute %s holds text", a.Key)
			}
			if a.Key == "gen_ai.response.id" {
				got[a.Value.AsString()] = s
			}
		}
	}
	whole := got["req_1"]
	if whole.SpanContext.TraceID().String() != "4bf92f3577b34da6a3ce929d0e0e4736" || whole.Parent.SpanID().String() != "00f067aa0ba902b7" {
		t.Errorf("it is in trace %s below %s", whole.SpanContext.TraceID(), whole.Parent.SpanID())
	}
	want := map[attribute.Key]string{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "distributed-llama", "gen_ai.request.model": "ns/model",
		"gen_ai.request.max_tokens": "7", "gen_ai.usage.output_tokens": "2", "gen_ai.response.finish_reasons": `["stop"]`,
		"koldun.attempt": "1", "koldun.runner": "r1",
	}
	for _, a := range whole.Attributes {
		if v, ok := want[a.Key]; ok && v == a.Value.String() {
			delete(want, a.Key)
		}
	}
	if len(want) > 0 || whole.Name != "chat ns/model" || len(whole.Events) != 1 || whole.Events[0].Name != "gen_ai.first_token" {
		t.Errorf("span %q with events %v lacks %v", whole.Name, whole.Events, want)
	}
	if broken := got["req_2"]; broken.Status.Description == "" {
		t.Errorf("the span of a failed attempt is %+v", broken.Status)
	}
	text := log.String()
	if strings.Contains(text, "secret") {
		t.Errorf("the log holds text: %s", text)
	}
	if !strings.Contains(text, `"msg":"attempt ended","session":"ns_model","runner":"r1","request":"req_1","attempt":1`) {
		t.Errorf("the log does not mention the request: %s", text)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
