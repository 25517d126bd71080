package sidecar_test

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/internal/serving/dispatch"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/sidecar"
	"github.com/gorizond/koldun/test/waittest"
)

// server starts a sidecar of an OpenAI-compatible server with two slots.
func (w *world) server(name string, e *enginetest.Server) {
	w.t.Helper()
	w.configuredServer(name, e, func(*sidecar.Config) {})
}

// configuredServer is server with changes to the configuration.
func (w *world) configuredServer(name string, e *enginetest.Server, change func(*sidecar.Config)) *process {
	w.t.Helper()
	engine, err := engineapi.NewServer(engineapi.ServerConfig{URL: e.URL, Model: "served", Parameters: []string{"seed"}, Features: "tools"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(engine.Close)
	p := w.start(name, func(ctx context.Context, b *bus.Bus) error {
		cfg := sidecar.Config{Bus: b, Engine: engine, Session: session, Runner: name, Model: "ns/model", Slots: 2, Logger: w.logger(name)}
		change(&cfg)
		return sidecar.Run(ctx, cfg)
	})
	w.runner(name, func(r queue.Runner) bool {
		return r.State == queue.RunnerIdle && r.Features == "tools" && r.Capacity() == 2
	})
	return p
}

// A busy server's request is tried again, ever later and without counting against
// it; what a server refuses is the client's error, and calls of tools pass through.
func TestServerBehindTheQueue(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	var busy atomic.Int32
	var asked, answered atomic.Int64 // times of the busy ones, in ns since 1970
	e := enginetest.StartServer(t, func(r enginetest.ServerRequest) enginetest.ServerReply {
		switch {
		case r.Last() == "busy" && busy.Add(1) <= 3:
			asked.CompareAndSwap(0, time.Now().UnixNano())
			return enginetest.ServerReply{Status: 429, Body: `{"error":{"message":"later"}}`}
		case r.Last() == "bad":
			return enginetest.ServerReply{Status: 400, Body: `{"error":{"message":"no such tool","param":"tools","code":400}}`}
		case r.Last() == "call":
			return enginetest.ServerReply{Events: []string{
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`, enginetest.Finish("tool_calls"),
			}}
		}
		if r.Last() == "busy" {
			answered.Store(time.Now().UnixNano())
		}
		return enginetest.EchoChunks(r)
	})
	w.server("r1", e)

	c := w.send(chat("req_1", "busy"))
	c.want("busy")
	if o := c.outcome(); o.Attempts != 1 || o.Dead {
		t.Errorf("outcome %+v, want one attempt that counts", o)
	}
	// Half of 200, 400 and 800 ms is random.
	if took := time.Duration(answered.Load() - asked.Load()); took < 700*time.Millisecond {
		t.Errorf("the busy server is asked again and again within %s", took)
	}
	c = w.send(chat("req_2", "bad"))
	c.wantError(queue.Failed, queue.CodeInvalidRequest)
	if o := c.outcome(); o.Error.Param != "tools" || o.Error.Message != "no such tool" {
		t.Errorf("outcome %+v, want the server's error", o.Error)
	}
	r := chat("req_3", "call", `,"tools":[{"type":"function","function":{"name":"f"}}]`)
	r.Features = "tools"
	c = w.send(r)
	_, last := c.finish()
	var raw strings.Builder
	for _, f := range c.seen {
		raw.Write(f.Raw)
	}
	if !strings.Contains(raw.String(), `"name":"f","arguments":"{}"`) || last.FinishReason != "tool_calls" {
		t.Errorf("%s, end %+v", raw.String(), last)
	}
	// The engine does not offer it: only a dispatcher of an older version sends it.
	r = chat("req_4", "logprobs", `,"logprobs":true`)
	c = w.send(r)
	c.wantError(queue.Failed, queue.CodeInvalidRequest)
}

// A server that takes no requests, as one whose quota is used up, does not keep them: clients
// get its own reason and when to come again, at once if it asks for more patience than there
// is, and also where no request has been tried yet.
func TestServerTakesNoRequests(t *testing.T) {
	for name, c := range map[string]struct {
		after string
		want  int
	}{"Silent": {"", 0}, "ForAnHour": {"3600", 3600}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.start("d1", func(ctx context.Context, b *bus.Bus) error {
				return dispatch.Run(ctx, dispatch.Config{
					Bus: b, Identity: "d1", AffinityWait: 200 * time.Millisecond, ServerPatience: time.Second, Logger: w.logger("d1"),
				})
			})
			var full atomic.Bool
			e := enginetest.StartServer(t, func(r enginetest.ServerRequest) enginetest.ServerReply {
				if full.Load() {
					return enginetest.ServerReply{Status: 503, Body: `{"error":{"message":"the quota of today is used up"}}`, RetryAfter: c.after}
				}
				return enginetest.EchoChunks(r)
			})
			w.server("r1", e)
			full.Store(true)
			for _, id := range []string{"req_1", "req_2"} {
				r := w.send(chat(id, "hello"))
				r.wantError(queue.Failed, queue.CodeBusy)
				o := r.outcome()
				if want := "the server of this model refuses requests for now (503): the quota of today is used up"; o.Error.Message != want || o.Error.RetryAfter != c.want {
					t.Errorf("%s: %+v, want %q and %d s", id, o.Error, want, c.want)
				}
				if o.Dead {
					t.Errorf("%s is a dead letter", id)
				}
			}
			if c.after != "" {
				return
			}
			full.Store(false)
			w.runner("r1", func(r queue.Runner) bool { return r.State == queue.RunnerIdle && r.Refusal == nil })
			w.send(chat("req_3", "hello")).want("hello")
		})
	}
}

// A server without a supervisor is restarted by its container's probes, which ask
// the sidecar.
func TestServerHangs(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	var hangs atomic.Bool
	e := enginetest.StartServer(t, func(r enginetest.ServerRequest) enginetest.ServerReply {
		reply := enginetest.EchoChunks(r)
		if hangs.Load() {
			reply.Gate = make(chan struct{}) // which nothing passes
		}
		return reply
	})
	addr := porttest.Address(t)
	w.configuredServer("r1", e, func(cfg *sidecar.Config) {
		cfg.Listen, cfg.Timeouts = addr, sidecar.Timeouts{First: 2 * time.Second, Between: 2 * time.Second}
	})
	health := func(path string, want int) {
		t.Helper()
		w.eventually(path, func() bool { got, _ := get(t, "http://"+addr+path); return got == want })
	}
	health("/engine/readyz", 200)
	health("/engine/livez", 200)
	hangs.Store(true)
	c := w.send(chat("req_1", "hello"))
	health("/engine/livez", 503)
	health("/engine/readyz", 503)
	hangs.Store(false) // as after its restart
	health("/engine/readyz", 200)
	health("/engine/livez", 200)
	c.want("hello")
	w.nats.Stop()
	health("/readyz", 503)
	health("/engine/readyz", 200)
	health("/engine/livez", 200)
}

// A server whose pod ends gets its signal when its answers are complete.
func TestServerOutlivesItsAnswers(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	gate := make(chan struct{})
	var ended atomic.Bool
	e := enginetest.StartServer(t, func(r enginetest.ServerRequest) enginetest.ServerReply {
		reply := enginetest.EchoChunks(r)
		if r.Last() == "one two" {
			reply.Gate, reply.Done = gate, func(int) { ended.Store(true) }
		}
		return reply
	})
	addr := porttest.Address(t)
	p := w.configuredServer("r1", e, func(cfg *sidecar.Config) { cfg.Listen, cfg.Grace = addr, time.Hour })
	c := w.send(chat("req_1", "one two"))
	waittest.Send(t, "the first piece", gate, struct{}{})
	c.until(queue.FrameDelta)
	p.cancel()
	w.eventually("a drain", func() bool { _, text := get(t, "http://"+addr+"/readyz"); return strings.Contains(text, "draining") })
	asked, early := make(chan struct{}), make(chan bool, 1)
	ctx := httptrace.WithClientTrace(w.ctx(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { close(asked) }})
	hook, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/drained", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		resp, err := waittest.Client().Do(hook)
		early <- !ended.Load()
		if err == nil { // else the sidecar has ended
			_ = resp.Body.Close()
		}
	}()
	waittest.Receive(t, "the hook", asked)
	for range 3 {
		waittest.Send(t, "a piece", gate, struct{}{})
	}
	c.want("one two")
	if waittest.Receive(t, "the end of the drain", early) {
		t.Error("the drain is said to be over while the server answers")
	}
	p.wait(t)
}
