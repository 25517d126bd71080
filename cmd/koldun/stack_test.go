package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

// A stack is a NATS server, real dispatchers and sidecars, and a client.
type stack struct {
	t   *testing.T
	env []string
	bus *bus.Bus
}

func newStack(t *testing.T) *stack {
	t.Helper()
	srv := natstest.Start(t)
	f := &stack{t: t, env: []string{
		names.EnvNATSURL + "=" + srv.URL(), names.EnvNATSUser + "=" + natstest.User, names.EnvNATSPassword + "=" + natstest.Password,
	}}
	b, err := bus.Connect(f.ctx(), bus.Config{URL: srv.URL(), User: natstest.User, Password: natstest.Password, Name: "client"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	f.bus = b
	if err := b.Ensure(f.ctx()); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *stack) ctx() context.Context {
	return waittest.Context(f.t)
}

func (f *stack) koldun(args ...string) *programtest.Process {
	return programtest.StartEnv(f.t, f.env, args...)
}

func (f *stack) dispatcher(identity string) *programtest.Process {
	return f.koldun("--log-level=debug", "dispatcher", "--listen=127.0.0.1:0", "--identity="+identity)
}

func (f *stack) runner(name string, e *enginetest.Engine) *programtest.Process {
	return f.koldun("llm", "--listen=127.0.0.1:0", "--engine="+e.URL, "--session=ns_model", "--runner="+name, "--model=ns/model")
}

// An asked is a sent request, which a goroutine follows.
type asked struct {
	req     queue.Request
	started chan struct{} // closed when an engine has it
	done    chan struct{} // closed when it has ended
	text    string        // valid then
	last    queue.Frame
}

// ask queues a request for an echo of text.
func (f *stack) ask(id, text string) *asked {
	f.t.Helper()
	content, err := json.Marshal(text)
	if err != nil {
		f.t.Fatal(err)
	}
	now := time.Now()
	a := &asked{started: make(chan struct{}), done: make(chan struct{}), req: queue.Request{
		ID: id, Session: "ns_model", Tenant: "tenant", Model: "ns/model", Created: now, Deadline: now.Add(time.Hour), Timeout: time.Hour,
		Body: fmt.Appendf(nil, `{"model":"ns/model","messages":[{"role":"user","content":%s}]}`, content),
	}}
	frames, err := queue.New(f.bus).SubscribeFrames(a.req.Ref())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(frames.Close)
	if _, err := queue.New(f.bus).Publish(f.ctx(), a.req); err != nil {
		f.t.Fatal(err)
	}
	ctx := f.ctx()
	go func() { // ends with the request or the test
		defer close(a.done)
		var b strings.Builder
		for begun := false; ; {
			frame, err := frames.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				f.t.Errorf("request %s: %v", id, err)
				break
			}
			if frame.Kind == queue.FrameStarted && !begun {
				begun = true
				close(a.started)
			}
			b.WriteString(frame.Text)
			a.last = frame
		}
		a.text = b.String()
	}()
	return a
}

// begun blocks until an engine has the request.
func (a *asked) begun(t *testing.T) {
	t.Helper()
	select {
	case <-a.started:
	case <-a.done: // the follower ends within the time limit
		t.Fatalf("request %s ended without being started: %+v", a.req.ID, a.last)
	}
}

// want checks that answer and outcome are those of a completed request.
func (f *stack) want(a *asked, text string) queue.Outcome {
	f.t.Helper()
	<-a.done
	if a.text != text || a.last.Kind != queue.FrameEnd {
		f.t.Errorf("request %s: %q ending in %q (%+v), want %q", a.req.ID, a.text, a.last.Kind, a.last.Error, text)
	}
	o := f.outcome(a.req.Ref())
	if o.State != queue.Completed {
		f.t.Errorf("request %s: outcome %+v, want completed", a.req.ID, o)
	}
	return o
}

// outcome waits for a terminal record.
func (f *stack) outcome(ref queue.Ref) (o queue.Outcome) {
	f.t.Helper()
	f.eventually("an outcome of "+ref.ID, func() bool {
		var err error
		o, err = queue.New(f.bus).Outcome(f.ctx(), ref)
		if err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Transient) {
			f.t.Fatal(err)
		}
		return err == nil
	})
	return o
}

func (f *stack) eventually(what string, ok func() bool) {
	f.t.Helper()
	waittest.Until(f.t, what, ok)
}

// settled waits until the queue is empty.
func (f *stack) settled() {
	f.t.Helper()
	f.eventually("an empty queue", func() bool {
		s, err := f.bus.JetStream().Stream(waittest.Attempt(f.t), names.RequestStream)
		return err == nil && s.CachedInfo().State.Msgs == 0
	})
}
