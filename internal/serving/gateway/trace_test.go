package gateway

import (
	"bytes"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

// A journal is a log that is safe for concurrent reads and writes.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

const clientTrace = "4bf92f3577b34da6a3ce929d0e0e4736"

// TestTraceparent checks that the trace reaches the envelope, with and without an
// exporter of spans.
func TestTraceparent(t *testing.T) {
	var log journal
	w := newWorld(t, func(c *Config, _ *timing) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	spans := tracetest.NewSpanRecorder()
	traced := w.another(func(c *Config, _ *timing) {
		c.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("test")
	})
	runner := startRunner(t, w.bus, tinySession, replies("secret answer"))
	wellFormed := regexp.MustCompile(`^00-([0-9a-f]{32})-[0-9a-f]{16}-01$`)
	ids := map[string]bool{}
	for name, c := range map[string]struct {
		w      *world
		header string
		trace  string // "": a new one
	}{
		"None":            {w, "", ""},
		"Client":          {w, "00-" + clientTrace + "-00f067aa0ba902b7-01", clientTrace},
		"Malformed":       {w, "00-zz-00f067aa0ba902b7-01", ""},
		"Zero":            {w, "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", ""},
		"Collected":       {traced, "", ""},
		"CollectedClient": {traced, "00-" + clientTrace + "-00f067aa0ba902b7-01", clientTrace},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := c.w.do("POST", "/v1/chat/completions", strings.Replace(chatBody(""), "hello", "secret question", 1), "Traceparent", c.header)
			var q queue.Request
			for _, q = range runner.seen() {
				if q.ID == r.Header.Get("X-Request-Id") {
					break
				}
			}
			m := wellFormed.FindStringSubmatch(q.Traceparent)
			if m == nil || c.trace != "" && m[1] != c.trace || c.trace == "" && ids[m[1]] {
				t.Fatalf("traceparent = %q", q.Traceparent)
			}
			ids[m[1]] = true
			if c.w == w {
				waittest.Until(t, "the log names request and trace", func() bool {
					return strings.Contains(log.String(), "request="+q.ID) && strings.Contains(log.String(), "trace="+m[1])
				})
			}
		})
	}
	if strings.Contains(log.String(), "secret") {
		t.Errorf("log contains the answer: %s", log.String())
	}
	waittest.Until(t, "the spans have ended", func() bool { return len(spans.Ended()) == 2 })
	for _, s := range spans.Ended() {
		has := map[attribute.Key]string{}
		for _, a := range s.Attributes() {
			has[a.Key] = a.Value.String()
			if strings.Contains(a.Value.String(), "secret") {
				t.Errorf("%s = %s", a.Key, a.Value.String())
			}
		}
		if s.Name() != "chat default/tiny" || has["gen_ai.request.model"] != "default/tiny" || has["gen_ai.usage.input_tokens"] != "5" ||
			has["http.response.status_code"] != "200" || has["koldun.outcome"] != "completed" {
			t.Errorf("%s: %v", s.Name(), has)
		}
	}
}
