package sidecar_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/sidecar"
)

// drive starts a dispatcher and a sidecar on a target.
func drive(w *world, e target, timeouts sidecar.Timeouts) *world {
	w.t.Helper()
	w.dispatcher("d1")
	client, err := engineapi.New(e.url)
	if err != nil {
		w.t.Fatal(err)
	}
	w.start("r1", func(ctx context.Context, b *bus.Bus) error {
		cfg := sidecar.Config{
			Bus: b, Engine: client, Session: session, Runner: "r1", Model: "ns/model",
			TTL: 3 * time.Second, Grace: 3 * time.Second, Timeouts: timeouts, Logger: w.logger("r1"),
		}
		if e.supervisor != nil {
			cfg.Supervisor = e.supervisor
		}
		return sidecar.Run(ctx, cfg)
	})
	return w
}

// unharmed fails the test if the engine has aborted.
func (e target) unharmed(t *testing.T) {
	t.Helper()
	if why := e.restarts(); why != "" {
		t.Errorf("the engine did not survive: %s", why)
	}
}

func TestEngineAnswers(t *testing.T) {
	targets(t, func(t *testing.T, e target) {
		w := drive(newWorld(t), e, sidecar.Timeouts{})
		c := w.send(chat("req_1", question))
		c.want(reply)
		last := c.seen[len(c.seen)-1]
		if last.FinishReason != openai.FinishStop || last.Usage.PromptTokens == 0 || last.Usage.CompletionTokens < 5 {
			t.Errorf("end = %+v, %+v", last, last.Usage)
		}
		c = w.send(chat("req_2", question, `,"max_tokens":3`))
		text, last := c.finish()
		if last.FinishReason != openai.FinishLength || text == "" || !strings.HasPrefix(reply, text) || last.Usage.CompletionTokens != 3 {
			t.Errorf("three tokens: %q, %+v, %+v", text, last, last.Usage)
		}
		w.send(chat("req_3", question, `,"stop":[" YAML","never"]`)).want("Koldun turns a short")
		w.send(chat("req_4", question)).want(reply)
		e.unharmed(t)
	})
}

// Requests that would crash the real engine must not reach it unchanged.
func TestEngineSurvivesClients(t *testing.T) {
	targets(t, func(t *testing.T, e target) {
		w := drive(newWorld(t), e, sidecar.Timeouts{})
		bodies := map[string]string{
			"parts":   `{"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}],"max_tokens":2}`,
			"null":    `{"messages":[{"role":"user","content":"Hi"}],"max_tokens":2,"stop":null,"temperature":null,"seed":null}`,
			"string":  `{"messages":[{"role":"user","content":"Hi"}],"max_tokens":2,"stop":"abc","seed":0,"temperature":0.5}`,
			"control": `{"messages":[{"role":"user","content":"\u0000\u001b[2J\ud83d\ude00\u2028\"\\"}],"max_tokens":2}`,
			"special": `{"messages":[{"role":"user","content":"<|eot_id|><|start_header_id|>system"}],"max_tokens":2}`,
			"empty":   `{"messages":[{"role":"user","content":""}],"max_tokens":2}`,
			"long":    `{"messages":[{"role":"user","content":"` + strings.Repeat("word ", 2000) + `"}],"max_tokens":2}`,
		}
		for name, body := range bodies {
			r := chat("req_"+name, "")
			r.Body = []byte(body)
			c := w.send(r)
			if _, last := c.finish(); last.Kind != queue.FrameEnd && last.Error.Code != queue.CodeInvalidRequest && last.Error.Code != queue.CodeContextLength {
				t.Errorf("%s: %+v, %+v", name, last, last.Error)
			}
		}
		w.send(chat("req_last", question)).want(reply)
		e.unharmed(t)
	})
}

// Requests cancelled at any moment leave the engine alive, and stop it.
func TestEngineSurvivesCancels(t *testing.T) {
	targets(t, func(t *testing.T, e target) {
		w := drive(newWorld(t), e, sidecar.Timeouts{})
		w.send(chat("req_first", question)).want(reply)
		for i := range 12 {
			c := w.send(chat(fmt.Sprintf("req_%d", i), question))
			if i%2 == 0 {
				c.until(queue.FrameStarted)
			}
			if i%4 == 0 {
				c.until(queue.FrameDelta)
			}
			if err := queue.New(w.bus).Cancel(w.ctx(), c.req.Ref(), "test"); err != nil {
				t.Fatal(err)
			}
			if _, last := c.finish(); last.Kind != queue.FrameEnd && last.Error.Code != queue.CodeCancelled {
				t.Errorf("request %d: %+v", i, last.Error)
			}
		}
		w.send(chat("req_last", question)).want(reply)
		w.empty()
		e.unharmed(t)
	})
}

func TestEngineComputesOneRequestAtATime(t *testing.T) {
	targets(t, func(t *testing.T, e target) {
		w := drive(newWorld(t), e, sidecar.Timeouts{})
		var clients []*client
		for i := range 8 {
			clients = append(clients, w.send(chat(fmt.Sprintf("req_%d", i), question)))
		}
		for _, c := range clients {
			c.want(reply)
		}
		e.unharmed(t)
	})
}

// A killed engine restarts, and requests without text are retried.
func TestEngineIsKilled(t *testing.T) {
	targets(t, func(t *testing.T, e target) {
		w := drive(newWorld(t), e, sidecar.Timeouts{})
		w.send(chat("req_0", question)).want(reply)
		for i := range 3 {
			c := w.send(chat(fmt.Sprintf("req_1_%d", i), question))
			c.until(queue.FrameStarted)
			e.kill()
			text, last := c.finish()
			if !strings.HasPrefix(reply, text) || last.Kind == queue.FrameEnd && text != reply ||
				last.Kind == queue.FrameError && (text == "" || last.Error.Code != queue.CodeInterrupted) {
				t.Errorf("%q, then %+v (%+v)", text, last, last.Error)
			}
			w.send(chat(fmt.Sprintf("req_2_%d", i), question)).want(reply)
		}
		w.empty()
	})
}

// A frozen worker makes all nodes restart, and the interrupted request returns to the
// queue and is answered.
func TestWorkerHangs(t *testing.T) {
	e := ring(t, 3)
	w := drive(newWorld(t), e, sidecar.Timeouts{First: 2 * time.Second, Between: 2 * time.Second})
	w.send(chat("req_1", question)).want(reply)
	signalPort(t, e.workers[1], syscall.SIGSTOP)
	c := w.send(chat("req_2", question))
	c.want(reply)
	if o := c.outcome(); o.Attempts < 2 {
		t.Errorf("attempts = %d, want more than one", o.Attempts)
	}
	if e.restarts() == "" {
		t.Error("the root was not restarted")
	}
}

// A worker that is replaced without requests makes the root restart before the next
// request.
func TestWorkerIsReplaced(t *testing.T) {
	e := ring(t, 3)
	w := drive(newWorld(t), e, sidecar.Timeouts{})
	w.send(chat("req_1", question)).want(reply)
	signalPort(t, e.workers[0], syscall.SIGKILL)
	w.eventually("the root to start anew", func() bool { return e.restarts() != "" })
	c := w.send(chat("req_2", question))
	c.want(reply)
}
