package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/telemetry"
	"github.com/gorizond/koldun/internal/waittest"
)

func chain(log io.Writer, h http.HandlerFunc) http.Handler {
	g := &Gateway{cfg: Config{Tracer: telemetry.NoTracer()}, metrics: newMetrics(), log: slog.New(slog.NewTextHandler(log, nil))}
	return g.around(h)
}

func TestPanicBeforeTheAnswer(t *testing.T) {
	var log bytes.Buffer
	w := httptest.NewRecorder()
	chain(&log, func(http.ResponseWriter, *http.Request) { panic("secret") }).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if e := decodeError(t, w.Body.String()); w.Code != 500 || e.Code != "internal_error" || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), "secret") || !strings.Contains(log.String(), w.Header().Get("X-Request-Id")) {
		t.Errorf("log = %s", &log)
	}
}

func TestPanicWithinTheAnswer(t *testing.T) {
	server := httptest.NewServer(chain(io.Discard, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic("secret")
	}))
	defer server.Close()
	r, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	if b, err := io.ReadAll(r.Body); err == nil {
		t.Errorf("the cut answer %q looks whole", b)
	}
}

func TestNewID(t *testing.T) {
	now := time.Now()
	seen := map[string]bool{}
	for range 1000 {
		id := newID(now)
		if len(id) != 26 || seen[id] {
			t.Fatalf("id = %q", id)
		}
		seen[id] = true
	}
	if a, b := newID(now), newID(now.Add(time.Millisecond)); a >= b {
		t.Errorf("%q does not sort before %q", a, b)
	}
}

func TestErrands(t *testing.T) {
	e := newErrands()
	ran, ended := make(chan bool), make(chan error, 2)
	if !e.run(time.Hour, func(context.Context) { close(ran) }) {
		t.Error("refused")
	}
	waittest.Receive(t, "an errand runs", ran)
	e.run(time.Millisecond, func(ctx context.Context) { <-ctx.Done(); ended <- context.Cause(ctx) })
	if err := waittest.Receive(t, "an errand ends", ended); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v", err)
	}
	e.run(time.Hour, func(ctx context.Context) { <-ctx.Done(); ended <- context.Cause(ctx) })
	waittest.Returns(t, "the errands end", func() { e.close(time.Millisecond) })
	if err := waittest.Receive(t, "an errand ends", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if e.run(time.Hour, func(context.Context) {}) {
		t.Error("an errand after the end")
	}
}

func TestErrandsAreBounded(t *testing.T) {
	e := newErrands()
	for range maxErrands {
		if !e.run(time.Hour, func(ctx context.Context) { <-ctx.Done() }) {
			t.Fatal("refused too early")
		}
	}
	if e.run(time.Hour, func(context.Context) {}) {
		t.Error("there is no bound")
	}
	waittest.Returns(t, "the errands end", func() { e.close(0) })
}
