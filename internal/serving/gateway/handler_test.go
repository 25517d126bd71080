package gateway

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/telemetry"
)

// chain returns the API with one endpoint.
func chain(log io.Writer, h http.HandlerFunc) http.Handler {
	g := &Gateway{
		cfg: Config{Tracer: telemetry.NoTracer(), AllowAnonymous: true}, metrics: newMetrics(), log: slog.New(slog.NewTextHandler(log, nil)),
	}
	handle := func(w http.ResponseWriter, r *http.Request, _ incoming) (task, *refusal) {
		h(w, r)
		return nil, nil
	}
	return &handler{g: g, router: newRouter([]endpoint{{label: "test", method: http.MethodGet, path: "/", handle: handle}})}
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
		t.Errorf("cut answer %q looks complete", b)
	}
}
