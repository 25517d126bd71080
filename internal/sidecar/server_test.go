package sidecar_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/engineapi"
	"github.com/gorizond/koldun/internal/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/queue"
	"github.com/gorizond/koldun/internal/sidecar"
)

// server starts a sidecar of an OpenAI-compatible server with two slots.
func (w *world) server(name string, e *enginetest.Server) {
	w.t.Helper()
	engine, err := engineapi.NewServer(engineapi.ServerConfig{URL: e.URL, Model: "served", Parameters: []string{"seed"}, Features: "tools"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(engine.Close)
	w.start(name, func(ctx context.Context, b *bus.Bus) error {
		return sidecar.Run(ctx, sidecar.Config{Bus: b, Engine: engine, Session: session, Runner: name, Model: "ns/model", Slots: 2, Logger: w.logger(name)})
	})
	w.runner(name, func(r queue.Runner) bool {
		return r.State == queue.RunnerIdle && r.Features == "tools" && r.Capacity() == 2
	})
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
