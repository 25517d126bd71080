package gateway

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/waittest"
)

// series counts all series that a gateway exports.
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

// Nothing that strangers choose becomes a label of a metric, and nothing that
// is secret gets into the log.
func TestStrangersMakeNoSeries(t *testing.T) {
	var log journal
	w := newWorld(t, func(c *Config, _ *timing) { c.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })
	startRunner(t, w.bus, tinySession, says("confidential answer"))
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
		t.Errorf("%d series, and %d after more of the same kind", before, after)
	}
	for _, secret := range []string{"confidential", "sk-odd"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}
