package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/waittest"
)

// quickTiming shortens the timing from seconds to milliseconds.
var quickTiming = timing{
	quiet: 50 * time.Millisecond, keepAlive: 20 * time.Millisecond,
	body: time.Minute, write: time.Minute, publish: time.Minute, cancel: time.Minute, backstop: time.Minute,
}

var tinySession = names.Session("default", "tiny", "")

// A world is a NATS server, a gateway over real HTTP, and a model "default/tiny".
type world struct {
	t       testing.TB
	nats    *natstest.Server // nil if it runs in another process
	natsURL string
	bus     *bus.Bus // of the test, not of the gateway
	gateway *Gateway
	url     string
}

func newWorld(tb testing.TB, change func(*Config, *timing)) *world {
	tb.Helper()
	w := &world{t: tb, nats: natstest.Start(tb)}
	w.natsURL = w.nats.URL()
	w.bus = w.connect()
	if err := w.bus.Ensure(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	w.putModel("default", "tiny")
	return w.another(change)
}

// another returns the same world with one more gateway.
func (w *world) another(change func(*Config, *timing)) *world {
	tb := w.t
	tb.Helper()
	w = &world{t: tb, nats: w.nats, natsURL: w.natsURL, bus: w.bus}
	cfg, p := Config{AllowAnonymous: true, Logger: slog.New(slog.DiscardHandler)}, quickTiming
	if change != nil {
		change(&cfg, &p)
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		tb.Fatal(err)
	}
	w.gateway = newGateway(w.connect(), cfg, newMetrics(), p)
	ctx, cancel := context.WithCancel(context.Background())
	done := w.gateway.start(ctx)
	if err := w.gateway.synced(waittest.Context(tb)); err != nil {
		tb.Fatal(err)
	}
	server := httptest.NewServer(w.gateway.Handler())
	w.url = server.URL
	tb.Cleanup(func() {
		waittest.Returns(tb, "the server closes", server.Close)
		cancel()
		waittest.Receive(tb, "the gateway ends", done)
	})
	return w
}

func (w *world) connect() *bus.Bus {
	w.t.Helper()
	b, err := bus.Connect(waittest.Context(w.t), bus.Config{URL: w.natsURL, User: natstest.User, Password: natstest.Password, Name: w.t.Name()})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(b.Close)
	return b
}

var modelTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (w *world) putModel(namespace, name string) {
	w.t.Helper()
	m := registry.NewModel(namespace, name, "s3://b/koldun-manifest.json", strings.Repeat("0", 64), manifest.Manifest{Written: modelTime})
	if _, err := registry.Models(w.bus).Put(w.t.Context(), m.Key(), m); err != nil {
		w.t.Fatal(err)
	}
}

func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// putToken writes the record and waits until the gateway knows it.
func (w *world) putToken(t registry.Token) {
	w.t.Helper()
	if _, err := registry.Tokens(w.bus).Put(w.t.Context(), t.Key(), t); err != nil {
		w.t.Fatal(err)
	}
	waittest.Until(w.t, "the gateway knows the token", func() bool {
		got, ok := w.gateway.tokens.Get(t.Key())
		return ok && got.Disabled == t.Disabled
	})
}

// soon fails if f takes more than a second in each of several attempts: a machine
// may be busy during one of them.
func soon(t *testing.T, try func() time.Duration) {
	t.Helper()
	var took []time.Duration
	for range 10 {
		d := try()
		if took = append(took, d); d <= time.Second {
			return
		}
	}
	t.Errorf("took %v, want at most a second", took)
}

// do sends a request and returns status, headers and body.
func (w *world) do(method, path, body string, header ...string) (*http.Response, string) {
	w.t.Helper()
	response, answer, err := w.try(method, path, body, header...)
	if err != nil {
		w.t.Fatal(err)
	}
	return response, answer
}

// try is do for requests whose connection may break.
func (w *world) try(method, path, body string, header ...string) (*http.Response, string, error) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(waittest.Context(w.t), method, w.url+path, strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = response.Body.Close() }()
	b, err := io.ReadAll(response.Body)
	return response, string(b), err
}

// chatBody returns a request for tiny with more fields.
func chatBody(more string) string {
	return `{"model":"tiny","messages":[{"role":"user","content":"hello"}]` + more + `}`
}

func decodeError(tb testing.TB, body string) openai.Error {
	tb.Helper()
	var e openai.Error
	if err := e.UnmarshalJSON([]byte(body)); err != nil || e.Message == "" {
		tb.Fatalf("%q is no error of OpenAI's shape: %v", body, err)
	}
	return e
}

func decode(tb testing.TB, body string, v any) {
	tb.Helper()
	if err := json.Unmarshal([]byte(body), v); err != nil {
		tb.Fatalf("%q: %v", body, err)
	}
}
