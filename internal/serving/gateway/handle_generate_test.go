package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/waittest"
)

// open sends a streaming chat request, and returns after the status.
func (w *world) open(ctx context.Context, body string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

const streaming = `,"stream":true`

func TestFailures(t *testing.T) {
	cases := map[string]struct {
		fail        func(*responder)
		status      int
		code, param string
		message     string
		header      string
	}{
		"Context": {
			func(s *responder) {
				s.fail(queue.CodeContextLength, "The context holds 128 tokens, and the messages have 200.")
			},
			400, "context_length_exceeded", "messages", "The context holds 128 tokens, and the messages have 200.", "",
		},
		"Engine":    {func(s *responder) { s.fail(queue.CodeEngineFailed, "dial 10.0.0.7: refused") }, 502, "engine_failed", "", errEngine().Message, ""},
		"Unknown":   {func(s *responder) { s.fail("strange", "secret") }, 502, "engine_failed", "", errEngine().Message, ""},
		"Nothing":   {func(s *responder) { s.send(queue.Frame{Kind: queue.FrameError, Seq: -1}) }, 500, "internal_error", "", errInternal().Message, ""},
		"Busy":      {func(s *responder) { s.fail(queue.CodeBusy, "the server says: later") }, 503, "server_busy", "", "the server says: later", "Retry-After"},
		"Expired":   {func(s *responder) { s.fail(queue.CodeExpired, "x") }, 503, "expired", "", errExpired().Message, "Retry-After"},
		"Timeout":   {func(s *responder) { s.fail(queue.CodeTimeout, "x") }, 504, "timeout", "", errTimeout().Message, "X-Should-Retry"},
		"Cancelled": {func(s *responder) { s.fail(queue.CodeCancelled, "x") }, 409, "cancelled", "", errCancelled().Message, "X-Should-Retry"},
	}
	w := newWorld(t, func(_ *Config, p *timing) { p.quiet, p.keepAlive = time.Hour, time.Hour })
	startRunner(t, w.bus, tinySession, func(_ context.Context, s *responder) {
		s.started()
		cases[s.chat.Messages[0].Content].fail(s)
	})
	for name, c := range cases {
		for how, more := range map[string]string{"Whole": "", "Stream": streaming} {
			t.Run(name+how, func(t *testing.T) {
				r, body := w.do("POST", "/v1/chat/completions", strings.Replace(chatBody(more), "hello", name, 1))
				e := decodeError(t, body)
				if r.StatusCode != c.status || e.Code != c.code || e.Param != c.param || e.Message != c.message {
					t.Errorf("got %d %+v, want %d %q %q %q", r.StatusCode, e, c.status, c.code, c.param, c.message)
				}
				if c.header != "" && r.Header.Get(c.header) == "" {
					t.Errorf("no header %s", c.header)
				}
			})
		}
	}
}

// TestFailureInAStream checks that after the status an error is the last event.
func TestFailureInAStream(t *testing.T) {
	w := newWorld(t, nil)
	startRunner(t, w.bus, tinySession, func(_ context.Context, s *responder) {
		s.started()
		s.text("first")
		s.fail(queue.CodeInterrupted, "secret")
	})
	r, body := w.do("POST", "/v1/chat/completions", chatBody(streaming))
	if r.StatusCode != http.StatusOK || strings.Contains(body, openai.Done) || strings.Contains(body, `"finish_reason":"`) || strings.Contains(body, "secret") {
		t.Errorf("got %d %s", r.StatusCode, body)
	}
	events := strings.Split(strings.TrimSpace(body), "\n\n")
	last := strings.TrimPrefix(events[len(events)-1], "data: ")
	if e := decodeError(t, last); e.Code != "interrupted" {
		t.Errorf("last event = %s", last)
	}
}

// TestOneGenerationOnly checks that an answer never contains text of two attempts.
func TestOneGenerationOnly(t *testing.T) {
	w := newWorld(t, nil)
	runner := startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		second := *s
		second.attempt = 2
		if s.chat.Messages[0].Content == "early" {
			s.started() // fails before its first text: the second attempt answers
			second.started()
			second.text("second")
			s.text("late") // fenced
			second.end("stop", 1, 1)
			return
		}
		s.started()
		s.text("first")
		second.started()
		second.text("second")
		<-ctx.Done() // stopped, because no client is left
	})
	r, body := w.do("POST", "/v1/chat/completions", strings.Replace(chatBody(""), "hello", "early", 1))
	if r.StatusCode != http.StatusOK || !strings.Contains(body, `"content":"second"`) {
		t.Errorf("got %d %s", r.StatusCode, body)
	}
	r, body = w.do("POST", "/v1/chat/completions", chatBody(""))
	if e := decodeError(t, body); r.StatusCode != http.StatusBadGateway || e.Code != "interrupted" {
		t.Errorf("got %d %s", r.StatusCode, body)
	}
	waittest.Until(t, "the second attempt is stopped", func() bool {
		_, ok := runner.cancellation(r.Header.Get("X-Request-Id"))
		return ok
	})
}

// TestCurl sends a request as curl -d does.
func TestCurl(t *testing.T) {
	w := newWorld(t, nil)
	startRunner(t, w.bus, tinySession, replies("x"))
	r, body := w.do("POST", "/v1/chat/completions", chatBody(""), "Content-Type", "application/x-www-form-urlencoded")
	if r.StatusCode != http.StatusOK || !strings.HasSuffix(body, "}\n") {
		t.Errorf("got %d %s", r.StatusCode, body)
	}
}

func TestIgnoredParameters(t *testing.T) {
	w := newWorld(t, nil)
	startRunner(t, w.bus, tinySession, replies("x"))
	r, _ := w.do("POST", "/v1/chat/completions", chatBody(`,"frequency_penalty":1,"top_k":5,"b\r\nad":1,"logit_bias":{},"`+strings.Repeat("x", 50)+`":1`))
	if got := r.Header.Get("X-Koldun-Ignored"); r.StatusCode != http.StatusOK || got != "frequency_penalty, top_k" {
		t.Errorf("%d, X-Koldun-Ignored = %q", r.StatusCode, got)
	}
	r, _ = w.do("POST", "/v1/chat/completions", chatBody(""))
	if got, there := r.Header["X-Koldun-Ignored"]; there {
		t.Errorf("X-Koldun-Ignored = %q", got)
	}
}

func TestQueueLimits(t *testing.T) {
	w := newWorld(t, nil)
	limit := func(most, perTenant int64) {
		t.Helper()
		if err := w.bus.EnsureStream(t.Context(), bus.StreamSpec{Stream: names.Stream{
			Name: names.RequestStream, Subjects: []string{names.RequestSubjects}, DiscardNew: true, MaxMsgs: most, MaxPerSubject: perTenant,
		}}); err != nil {
			t.Fatal(err)
		}
	}
	// A request of the same tenant that no runner takes.
	if _, err := queue.New(w.bus).Publish(t.Context(), queue.Request{ID: "waiting", Session: tinySession, Tenant: "anonymous"}); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		most, perTenant int64
		status          int
		code            string
	}{
		"Tenant": {0, 1, 429, "rate_limit_exceeded"},
		"All":    {1, 0, 503, "queue_full"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			limit(c.most, c.perTenant)
			r, body := w.do("POST", "/v1/chat/completions", chatBody(streaming))
			if e := decodeError(t, body); r.StatusCode != c.status || e.Code != c.code || r.Header.Get("Retry-After") == "" {
				t.Errorf("got %d %s", r.StatusCode, body)
			}
		})
	}
}

func TestQueueGone(t *testing.T) {
	w := newWorld(t, func(_ *Config, p *timing) { p.publish, p.cancel = 50*time.Millisecond, 10*time.Millisecond })
	w.nats.Stop()
	r, body := w.do("POST", "/v1/chat/completions", chatBody(""))
	if e := decodeError(t, body); r.StatusCode != http.StatusServiceUnavailable || e.Code != "queue_unavailable" || r.Header.Get("Retry-After") == "" {
		t.Errorf("got %d %s", r.StatusCode, body)
	}
	// The list of models needs no connection.
	if r, _ := w.do("GET", "/v1/models", ""); r.StatusCode != http.StatusOK {
		t.Errorf("status %d", r.StatusCode)
	}
}

func TestTooLargeForTheQueue(t *testing.T) {
	w := newWorld(t, nil)
	if err := w.bus.EnsureStream(t.Context(), bus.StreamSpec{Stream: names.Stream{
		Name: names.RequestStream, Subjects: []string{names.RequestSubjects}, DiscardNew: true, MaxMsgSize: 10_000,
	}}); err != nil {
		t.Fatal(err)
	}
	r, body := w.do("POST", "/v1/chat/completions", strings.Replace(chatBody(""), "hello", strings.Repeat("x", 10_000), 1))
	if e := decodeError(t, body); r.StatusCode != http.StatusRequestEntityTooLarge || e.Code != "request_too_large" {
		t.Errorf("got %d %s", r.StatusCode, body)
	}
}

func TestDemandFollowsRequests(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.DemandTTL = time.Second })
	cache := registry.Demands(w.bus).Cache()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() { cache.Run(ctx); close(done) }()
	defer func() { cancel(); waittest.Receive(t, "the cache ends", done) }()

	// No runner: the request waits, and demand stays beyond its TTL.
	leave, gone := context.WithCancel(waittest.Context(t))
	response := w.open(leave, chatBody(streaming))
	scanner := bufio.NewScanner(response.Body)
	begun := time.Now()
	want := registry.Demand{Version: 1, Session: tinySession, Namespace: "default", Model: "tiny"}
	for scanner.Scan() && time.Since(begun) < 2500*time.Millisecond {
		continue // keep-alive comments
	}
	// A busy machine may write it late.
	waittest.Until(t, "the demand is kept", func() bool {
		got, ok := cache.Get(tinySession)
		return ok && cmp.Equal(want, got)
	})
	gone()
	waittest.Until(t, "the demand ends", func() bool { _, ok := cache.Get(tinySession); return !ok })
}

// TestSlowClient checks that a runner does not wait for a client that does not read.
func TestSlowClient(t *testing.T) {
	w := newWorld(t, func(_ *Config, p *timing) { p.write = 100 * time.Millisecond })
	runner := startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		s.started()
		text := strings.Repeat("x", 32<<10)
		for ctx.Err() == nil {
			s.text(text)
			_ = s.bus.Flush()
		}
	})
	// The status may be late, too, so the client does not read it.
	c, err := new(net.Dialer).DialContext(waittest.Context(t), "tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	body := chatBody(streaming)
	if _, err := fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the request is cancelled", func() bool {
		seen := runner.seen()
		if len(seen) == 0 {
			return false
		}
		_, ok := runner.cancellation(seen[0].ID)
		return ok
	})
}

// TestClientLeavesWhileQueued checks that the request of a client that left the
// queue is cancelled before a runner gets it.
func TestClientLeavesWhileQueued(t *testing.T) {
	w := newWorld(t, nil)
	runner := startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		s.queued(1, 0)
		<-ctx.Done()
	})
	for how, more := range map[string]string{"Whole": "", "Stream": streaming} {
		t.Run(how, func(t *testing.T) {
			before := len(runner.seen())
			ctx, cancel := context.WithCancel(t.Context())
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/v1/chat/completions", strings.NewReader(chatBody(more)))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			done := make(chan bool)
			go func() {
				defer close(done)
				if response, err := http.DefaultClient.Do(r); err == nil {
					_, _ = io.Copy(io.Discard, response.Body)
					_ = response.Body.Close()
				}
			}()
			waittest.Until(t, "the request is queued", func() bool { return len(runner.seen()) > before })
			cancel()
			waittest.Receive(t, "the client is gone", done)
			id := runner.seen()[before].ID
			waittest.Until(t, "it is cancelled", func() bool { _, ok := runner.cancellation(id); return ok })
		})
	}
}

// TestBackstop checks that the gateway enforces the time limits of a request without
// dispatcher and runner.
func TestBackstop(t *testing.T) {
	w := newWorld(t, func(c *Config, p *timing) {
		c.QueueTimeout, c.ResponseTimeout, p.backstop = 50*time.Millisecond, 50*time.Millisecond, 2*time.Second
	})
	runner := startRunner(t, w.bus, tinySession, func(ctx context.Context, _ *responder) { <-ctx.Done() })
	for how, more := range map[string]string{"Whole": "", "Stream": streaming} {
		r, body := w.do("POST", "/v1/chat/completions", chatBody(more))
		_, rest, _ := strings.Cut(body, "{")                                                                            // after comments, and "data: "
		if e := decodeError(t, "{"+strings.TrimSpace(rest)); e.Code != "timeout" || r.StatusCode != 504 && more == "" { // a stream has sent its status before
			t.Errorf("%s: %d %s", how, r.StatusCode, body)
		}
	}
	waittest.Until(t, "both are cancelled", func() bool {
		seen := runner.seen()
		for _, q := range seen {
			if reason, ok := runner.cancellation(q.ID); !ok || reason != "timeout" {
				return false
			}
		}
		return len(seen) == 2
	})
}
