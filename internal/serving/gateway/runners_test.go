package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

const hot = `,"temperature":0.5,"seed":1`

// putRunner announces a runner of tiny, and waits until the gateway knows it. The gateway
// gets announcements in their order, so it knows the runner once it knows the next one.
func (w *world) putRunner(r queue.Runner) {
	w.t.Helper()
	r.Session, r.Model = tinySession, "default/tiny"
	next := queue.Runner{
		Name: "next", Session: names.Session("default", "next", ""), Model: "default/next",
		State: queue.RunnerIdle, Features: openai.Features(rand.Text()),
	}
	for _, r := range []queue.Runner{r, next} {
		if _, err := w.bus.PutTTL(w.t.Context(), names.RunnersBucket, names.RunnerKey(r.Session, r.Name), r, time.Hour); err != nil {
			w.t.Fatal(err)
		}
	}
	waittest.Until(w.t, "the gateway knows the runner", func() bool {
		_, features := w.gateway.runners.Offers(next.Model)
		return slices.Contains(features, string(next.Features))
	})
}

// putEngine announces a runner whose engine honours the hints.
func (w *world) putEngine(runner string, honours ...string) {
	w.t.Helper()
	w.putRunner(queue.Runner{Name: runner, State: queue.RunnerIdle, Honours: honours})
}

// putOffer announces a runner with features.
func (w *world) putOffer(runner string, state queue.RunnerState, features openai.Features, honours ...string) {
	w.t.Helper()
	w.putRunner(queue.Runner{Name: runner, State: state, Features: features, Honours: honours})
}

// The header of an answer names the hints that its engine ignores, even if the
// gateway expected others.
func TestIgnoredByTheEngine(t *testing.T) {
	w := newWorld(t, func(_ *Config, p *timing) { p.quiet = time.Hour })
	startRunner(t, w.bus, tinySession, func(_ context.Context, s *responder) {
		var ignored []string // it honours top_k, too
		if s.chat.Messages[0].Content == "cold" {
			ignored = []string{"temperature", "top_k"}
		}
		s.send(queue.Frame{Kind: queue.FrameStarted, Ignored: ignored})
		s.text("x")
		s.end("stop", 1, 1)
	})
	for _, engine := range []string{"unknown", "known"} {
		if engine == "known" {
			w.putEngine("r1", "seed")
		}
		for content, want := range map[string]string{"cold": "temperature, top_k", "warm": ""} {
			for _, more := range []string{"", streaming} {
				r, body := w.do("POST", "/v1/chat/completions", strings.Replace(chatBody(hot+`,"top_k":1`+more), "hello", content, 1))
				if got := r.Header.Get("X-Koldun-Ignored"); r.StatusCode != http.StatusOK || got != want {
					t.Errorf("%s, %s, %q: X-Koldun-Ignored = %q, want %q; %d %s", engine, content, more, got, want, r.StatusCode, body)
				}
			}
		}
	}
}

// A stream that starts before its engine is known has the expected hints in its
// header, if there are any, and the actual ones in a comment.
func TestIgnoredIsToldLate(t *testing.T) {
	w := newWorld(t, nil)
	goOn := make(chan bool)
	startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		s.queued(1, 0)
		await(ctx, goOn)
		s.send(queue.Frame{Kind: queue.FrameStarted, Ignored: []string{"temperature"}})
		s.text("x")
		s.end("stop", 1, 1)
	})
	for _, want := range []string{"", "top_k, temperature"} {
		response := w.open(waittest.Context(t), chatBody(hot+`,"top_k":1`+streaming))
		waittest.Send(t, "the runner continues", goOn, true)
		if got := response.Header.Get("X-Koldun-Ignored"); got != want {
			t.Errorf("X-Koldun-Ignored = %q, want %q", got, want)
		}
		d := openai.NewDecoder(response.Body, 1<<16)
		var commented bool
		d.Comment = func(text string) { commented = commented || text == "started ignored=temperature" }
		for {
			if _, err := d.Next(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if !commented {
			t.Error("no comment names the ignored hints")
		}
		w.putEngine("r1", "seed")
	}
}

// While no engine of a model is known, the engine that gets the request refuses it.
func TestStrictParametersOfAnUnknownEngine(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.StrictParameters = true })
	startRunner(t, w.bus, tinySession, func(_ context.Context, s *responder) {
		if !s.request.Strict {
			t.Error("the request is not marked as strict")
		}
		s.send(queue.Frame{Kind: queue.FrameError, Seq: -1, Error: &queue.Failure{
			Code: queue.CodeUnsupported, Message: "not honoured", Param: "temperature",
		}})
	})
	r, body := w.do("POST", "/v1/chat/completions", chatBody(hot+`,"top_k":1`))
	if e := decodeError(t, body); r.StatusCode != http.StatusBadRequest || e.Code != "unsupported_parameter" || e.Param != "temperature" || e.Message != "not honoured" {
		t.Errorf("got %d %s", r.StatusCode, body)
	}
}

// TestOperationsOfRunners checks that the operation is queued with the request, and
// that a request is refused if no runner of the model serves its operation.
func TestOperationsOfRunners(t *testing.T) {
	w := newWorld(t, nil)
	runner := startRunner(t, w.bus, tinySession, replies("hello"))
	announce := func(name string, operations ...openai.Operation) {
		t.Helper()
		w.putRunner(queue.Runner{Name: name, State: queue.RunnerIdle, Operations: operations})
	}
	ask := func(wantChat, wantCompletion int) {
		t.Helper()
		for path, c := range map[string]struct {
			body      string
			operation openai.Operation
			want      int
		}{
			"/v1/chat/completions": {chatBody(""), openai.OperationChat, wantChat},
			"/v1/completions":      {`{"model":"tiny","prompt":"hello"}`, openai.OperationCompletion, wantCompletion},
		} {
			before := len(runner.seen())
			r, body := w.do("POST", path, c.body)
			if r.StatusCode != c.want {
				t.Fatalf("%s: %d %s, want %d", path, r.StatusCode, body, c.want)
			}
			if c.want == http.StatusOK {
				if got := runner.seen()[before].Operation; got != c.operation {
					t.Errorf("%s: operation %q is queued, want %q", path, got, c.operation)
				}
				continue
			}
			if e := decodeError(t, body); e.Code != "operation_not_supported" || !strings.Contains(e.Message, string(c.operation)) || len(runner.seen()) != before {
				t.Errorf("%s: %s, %d requests are queued", path, body, len(runner.seen())-before)
			}
		}
	}
	ask(200, 200) // without a runner: one may start
	announce("r1", "embedding")
	ask(400, 400)
	announce("r2", openai.OperationChat)
	ask(200, 400)
	announce("r3") // an older one, which lists no operations
	ask(200, 200)
}
