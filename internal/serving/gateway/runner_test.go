package gateway

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

// A testRunner is both dispatcher and runner of one session: it takes every request
// from the stream, and its script answers with frames.
type testRunner struct {
	bus     *bus.Bus
	session string
	script  func(context.Context, *responder)

	mu        sync.Mutex
	requests  []queue.Request
	running   map[string]context.CancelFunc
	cancelled map[string]string // reasons by request
}

func startRunner(tb testing.TB, b *bus.Bus, session string, script func(context.Context, *responder)) *testRunner {
	tb.Helper()
	r := &testRunner{bus: b, session: session, script: script, running: map[string]context.CancelFunc{}, cancelled: map[string]string{}}
	ctx, cancel := context.WithCancel(context.Background())
	stop, err := bus.Serve(b, names.CancelSubject(session, "*"), r.cancel)
	if err != nil {
		tb.Fatal(err)
	}
	var tasks sync.WaitGroup
	tasks.Go(func() {
		queue.New(b).Backlog(ctx, session, queue.BacklogReader{Again: func() {}, Current: func(uint64) {}, Entry: func(e queue.Entry) {
			own, cancel := context.WithCancel(ctx)
			r.mu.Lock()
			if slices.ContainsFunc(r.requests, func(known queue.Request) bool { return known.ID == e.Request.ID }) {
				r.mu.Unlock()
				cancel()
				return // read again after a reconnect
			}
			r.requests = append(r.requests, e.Request)
			r.running[e.Request.ID] = cancel
			r.mu.Unlock()
			tasks.Go(func() {
				defer cancel()
				r.work(own, e)
			})
		}})
	})
	tb.Cleanup(func() {
		stop()
		cancel()
		waittest.Returns(tb, "the runner ends", tasks.Wait)
	})
	return r
}

func (r *testRunner) work(ctx context.Context, e queue.Entry) {
	var chat openai.ChatRequest
	if slices.Contains(openai.DefaultOperations(), e.Request.Operation) { // whose normal form is that of a chat
		if err := chat.UnmarshalJSON(e.Request.Body); err != nil {
			panic("the gateway queued a request that cannot be decoded: " + err.Error())
		}
	}
	r.script(ctx, &responder{bus: r.bus, request: e.Request, chat: chat, attempt: 1})
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), waittest.Limit(5*time.Second))
	defer stop()
	_ = queue.New(r.bus).Delete(end, e.Seq)
}

func (r *testRunner) cancel(subject string, o queue.CancelOrder) (queue.Ack, bool) {
	id := subject[strings.LastIndexByte(subject, '.')+1:]
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancelled[id] = o.Reason
	if stop := r.running[id]; stop != nil {
		stop()
	}
	return queue.Ack{OK: true}, true
}

func (r *testRunner) seen() []queue.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]queue.Request(nil), r.requests...)
}

func (r *testRunner) cancellation(id string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reason, ok := r.cancelled[id]
	return reason, ok
}

// A responder sends the frames of one request.
type responder struct {
	bus     *bus.Bus
	request queue.Request
	chat    openai.ChatRequest
	attempt int
	seq     int
}

func (s *responder) send(f queue.Frame) {
	f.Request, f.Epoch, f.Attempt = s.request.ID, 1, s.attempt
	if f.Seq == 0 {
		f.Seq = s.seq
		s.seq++
	}
	_ = queue.New(s.bus).PublishFrame(s.request.Session, f)
}

func (s *responder) queued(position int, wait time.Duration) {
	s.send(queue.Frame{Kind: queue.FrameQueued, Seq: -1, Position: position, Wait: wait})
}

// started is what a runner sends whose engine honours no more than the usual hints.
func (s *responder) started() {
	s.send(queue.Frame{Kind: queue.FrameStarted, Ignored: s.chat.Ignored()})
}
func (s *responder) text(text string) { s.send(queue.Frame{Kind: queue.FrameDelta, Text: text}) }
func (s *responder) end(reason string, in, out int) {
	s.send(queue.Frame{Kind: queue.FrameEnd, FinishReason: reason, Usage: &queue.Usage{PromptTokens: in, CompletionTokens: out}})
}

func (s *responder) fail(code, message string) {
	s.send(queue.Frame{Kind: queue.FrameError, Seq: -1, Error: &queue.Failure{Code: code, Message: message}})
}

// await blocks until the test lets the script continue, or the runner stops.
func await(ctx context.Context, goOn <-chan bool) {
	select {
	case <-goOn:
	case <-ctx.Done():
	}
}

// replies returns a script with the same answer to all requests.
func replies(texts ...string) func(context.Context, *responder) {
	return func(_ context.Context, s *responder) {
		s.started()
		for _, text := range texts {
			s.text(text)
		}
		s.end("stop", 5, len(texts))
	}
}
