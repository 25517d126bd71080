package sidecar_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/dispatch"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/sidecar"
	"github.com/gorizond/koldun/test/waittest"
)

const (
	session = "ns_model"
	tenant  = "tenant"
)

// A world is a real NATS server with whatever processes a test starts.
type world struct {
	t    testing.TB
	nats *natstest.Server // nil in a cluster
	url  string
	bus  *bus.Bus // of the client
}

// newWorld lets its test run beside others: most of their time is waiting.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return anotherWorld(t)
}

// anotherWorld is for tests that have several.
func anotherWorld(t testing.TB) *world {
	t.Helper()
	srv := natstest.Start(t)
	w := &world{t: t, nats: srv, url: srv.URL()}
	w.bus = w.connect("client")
	if err := w.bus.Ensure(w.ctx()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) ctx() context.Context {
	return waittest.Context(w.t)
}

func (w *world) logger(name string) *slog.Logger {
	if os.Getenv("KOLDUN_TEST_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("process", name)
}

func (w *world) connect(name string) *bus.Bus {
	w.t.Helper()
	b, err := bus.Connect(w.ctx(), bus.Config{
		URL: w.url, User: natstest.User, Password: natstest.Password, Name: name, Logger: w.logger(name),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(b.Close)
	return b
}

// A process is a dispatcher or a sidecar with a connection of its own.
type process struct {
	bus    *bus.Bus
	cancel context.CancelFunc
	done   chan error
	once   sync.Once
}

func (w *world) start(name string, run func(ctx context.Context, b *bus.Bus) error) *process {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{bus: w.connect(name), cancel: cancel, done: make(chan error, 1)}
	go func() { p.done <- run(ctx, p.bus) }()
	w.t.Cleanup(func() { p.kill(); p.wait(w.t) })
	return p
}

// stop ends a process as SIGTERM does.
func (p *process) stop(t testing.TB) {
	t.Helper()
	p.cancel()
	p.wait(t)
}

// kill ends a process as SIGKILL does, as far as others can see.
func (p *process) kill() {
	p.bus.Conn().Close()
	p.cancel()
}

func (p *process) wait(t testing.TB) {
	t.Helper()
	p.once.Do(func() {
		if err := waittest.Receive(t, "a process to end", p.done); err != nil {
			t.Error(err)
		}
	})
}

func (w *world) dispatcher(identity string) *process {
	return w.start(identity, func(ctx context.Context, b *bus.Bus) error {
		return dispatch.Run(ctx, dispatch.Config{
			Bus: b, Identity: identity, AffinityWait: 200 * time.Millisecond, Logger: w.logger(identity),
		})
	})
}

func (w *world) sidecar(runner string, e *enginetest.Engine) *process {
	client, err := engineapi.New(e.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.start(runner, func(ctx context.Context, b *bus.Bus) error {
		return sidecar.Run(ctx, sidecar.Config{
			Bus: b, Engine: client, Session: session, Runner: runner, Model: "ns/model",
			TTL: 3 * time.Second, Grace: 3 * time.Second, Logger: w.logger(runner),
		})
	})
}

// chat is a request for an answer to text.
func chat(id, text string, more ...string) queue.Request {
	content, _ := json.Marshal(text)
	body := fmt.Sprintf(`{"model":"ns/model","messages":[{"role":"user","content":%s}]%s}`, content, strings.Join(more, ""))
	now := time.Now()
	return queue.Request{
		ID: id, Session: session, Tenant: tenant, Model: "ns/model",
		Created: now, Deadline: now.Add(10 * time.Minute), Timeout: 10 * time.Minute, Body: []byte(body),
	}
}

// A client follows one request.
type client struct {
	w      *world
	req    queue.Request
	frames *queue.Frames
	seen   []queue.Frame
}

// send publishes a request and follows it.
func (w *world) send(r queue.Request) *client {
	w.t.Helper()
	c := w.follow(r)
	if _, err := queue.New(w.bus).Publish(w.ctx(), r); err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) follow(r queue.Request) *client {
	w.t.Helper()
	frames, err := queue.New(w.bus).SubscribeFrames(r.Ref())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(frames.Close)
	return &client{w: w, req: r, frames: frames}
}

// next returns the next frame; ok is false after the last.
func (c *client) next() (queue.Frame, bool) {
	c.w.t.Helper()
	f, err := c.frames.Next(c.w.ctx())
	if errors.Is(err, io.EOF) {
		return queue.Frame{}, false
	}
	if err != nil {
		c.w.t.Fatalf("request %s: %v; seen %+v", c.req.ID, err, c.seen)
	}
	c.seen = append(c.seen, f)
	return f, true
}

// until reads on to a frame of the kind.
func (c *client) until(kind queue.FrameKind) queue.Frame {
	c.w.t.Helper()
	for {
		f, ok := c.next()
		if !ok {
			c.w.t.Fatalf("request %s ended without a frame of kind %q: %+v", c.req.ID, kind, c.seen)
		}
		if f.Kind == kind {
			return f
		}
	}
}

// finish reads on to the end, and returns all text and the last frame.
func (c *client) finish() (string, queue.Frame) {
	c.w.t.Helper()
	for {
		if _, ok := c.next(); !ok {
			break
		}
	}
	var text strings.Builder
	for _, f := range c.seen {
		text.WriteString(f.Text)
	}
	return text.String(), c.seen[len(c.seen)-1]
}

// want checks the whole answer and that the outcome agrees.
func (c *client) want(text string) {
	c.w.t.Helper()
	got, last := c.finish()
	if got != text || last.Kind != queue.FrameEnd {
		c.w.t.Errorf("request %s: %q ending in %q (%+v), want %q", c.req.ID, got, last.Kind, last.Error, text)
	}
	if o := c.outcome(); o.State != queue.Completed {
		c.w.t.Errorf("request %s: outcome %+v, want completed", c.req.ID, o)
	}
}

// wantError checks that the answer ends in an error and that the outcome agrees.
func (c *client) wantError(state queue.State, code string) {
	c.w.t.Helper()
	_, last := c.finish()
	if last.Kind != queue.FrameError || last.Error.Code != code {
		c.w.t.Errorf("request %s: ends in %q (%+v), want error %q", c.req.ID, last.Kind, last.Error, code)
	}
	if o := c.outcome(); o.State != state || o.Error == nil || o.Error.Code != code {
		c.w.t.Errorf("request %s: outcome %+v, want %s with %q", c.req.ID, o, state, code)
	}
}

// outcome waits for the terminal record.
func (c *client) outcome() queue.Outcome {
	c.w.t.Helper()
	var o queue.Outcome
	c.w.eventually("an outcome of "+c.req.ID, func() bool {
		var err error
		o, err = queue.New(c.w.bus).Outcome(c.w.ctx(), c.req.Ref())
		if err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Transient) {
			c.w.t.Fatal(err)
		}
		return err == nil
	})
	return o
}

func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	waittest.Until(w.t, what, ok)
}

// runner waits until a runner's record is as wished.
func (w *world) runner(name string, ok func(queue.Runner) bool) {
	w.t.Helper()
	w.eventually("runner "+name, func() bool {
		r, _, err := bus.Get[queue.Runner](w.ctx(), w.bus, names.RunnersBucket, names.RunnerKey(session, name))
		return err == nil && ok(r)
	})
}

func idle(r queue.Runner) bool { return r.State == queue.RunnerIdle && len(r.Ends) == 0 }

// empty waits until no request is left in the stream.
func (w *world) empty() {
	w.t.Helper()
	defer func() {
		if w.t.Failed() {
			err := queue.New(w.bus).OpenRequests(w.ctx(), "*", func(o queue.OpenRequest) bool {
				w.t.Logf("left: %s", o.ID)
				return true
			})
			w.t.Logf("all that is left was listed: %v", err)
		}
	}()
	w.eventually("an empty queue", func() bool {
		s, err := w.bus.JetStream().Stream(waittest.Attempt(w.t), names.RequestStream)
		return err == nil && s.CachedInfo().State.Msgs == 0
	})
}

// asked counts how often an engine was asked a text.
func asked(e *enginetest.Engine, text string) int {
	n := 0
	for _, r := range e.Requests() {
		if r.Last() == text {
			n++
		}
	}
	return n
}
