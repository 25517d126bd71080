package gateway

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/gorizond/koldun/test/waittest"
)

// series counts the exported series of a gateway.
func (w *world) series() int {
	w.t.Helper()
	families, err := w.gateway.metrics.registry.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	n := 0
	for _, f := range families {
		n += len(f.GetMetric())
	}
	return n
}

// No value that clients choose becomes a label of a metric, and the log contains no
// secret.
func TestStrangersMakeNoSeries(t *testing.T) {
	var log journal
	w := newWorld(t, func(c *Config, _ *timing) { c.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })
	startRunner(t, w.bus, tinySession, replies("confidential answer"))
	sent := 0
	hostile := func(round int) {
		for i := range 10 {
			odd := fmt.Sprintf("odd%dx%d", round, i)
			for _, r := range []struct{ method, path, body string }{
				{"POST", "/v1/chat/completions", strings.ReplaceAll(chatBody(`,"`+odd+`":1`), "hello", "confidential question")},
				{"POST", "/v1/completions", `{"model":"tiny","prompt":"confidential question","user":"` + odd + `"}`},
				{"POST", "/v1/chat/completions", strings.ReplaceAll(chatBody(streaming), "tiny", odd)},
				{"POST", "/v1/chat/completions", strings.ReplaceAll(chatBody(""), "tiny", "ns/"+odd+`\"\n}`)},
				{"GET", "/v1/models/" + odd, ""},
				{"GET", "/" + odd, ""},
				{"BREW" + strings.ToUpper(odd), "/v1/models", ""},
			} {
				w.do(r.method, r.path, r.body, "X-Api-Key", "sk-"+odd, "X-Koldun-Conversation", odd, "User-Agent", odd, "X-Request-Id", odd)
				sent++
			}
		}
		waittest.Until(t, "all requests are counted and logged", func() bool {
			return strings.Count(log.String(), `"msg":"request"`) == sent
		})
	}
	hostile(0)
	before := w.series()
	for round := 1; round <= 3; round++ {
		hostile(round)
	}
	if after := w.series(); after != before {
		t.Errorf("got %d series, and %d after more requests", before, after)
	}
	for _, secret := range []string{"confidential", "sk-odd"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("log contains %q", secret)
		}
	}
}

// TestRebinding simulates DNS rebinding: a site changes the address of its name to
// that of this machine, so that page and gateway have the same origin.
func TestRebinding(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.Hosts = []string{"localhost"} })
	for host, want := range map[string]int{"evil.example:8082": 421, "localhost:8082": 200, "127.0.0.1:8082": 200} {
		for _, method := range []string{"GET", "POST"} {
			path, body := "/v1/models", ""
			if method == "POST" {
				if want == 200 {
					continue
				}
				path, body = "/v1/chat/completions", chatBody("")
			}
			r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			r.Header.Set("Origin", "http://"+host)
			r.Header.Set("Content-Type", "application/json")
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if err != nil || answer.StatusCode != want || want == 421 && strings.Contains(string(text), "tiny") {
				t.Errorf("%s with the host %q: %d %s, %v; want %d", method, host, answer.StatusCode, text, err, want)
			}
		}
	}
}
