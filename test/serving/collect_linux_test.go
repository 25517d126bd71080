package serving_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// leader returns the dispatcher that holds a lease, or the first if none does.
func (s *stack) leader(t *testing.T) *process {
	t.Helper()
	for i, addr := range s.health {
		if metric(t, addr, "koldun_dispatcher_sessions") == "1" {
			return s.dispatchers[i]
		}
	}
	return s.dispatchers[0]
}

// collect waits until the queue is empty, and adds the recorded outcomes and
// generations to h.
func (s *stack) collect(t *testing.T, h *history.History) {
	t.Helper()
	b := s.broker.bus()
	waittest.Until(t, "the queue to be empty", func() bool {
		stream, err := b.JetStream().Stream(waittest.Attempt(t), names.RequestStream)
		if err != nil {
			return false
		}
		h.Queued = stream.CachedInfo().State.Msgs
		return h.Queued == 0
	})
	waittest.Until(t, "the outcomes", func() bool {
		all, err := history.Outcomes(t.Context(), b)
		h.Outcomes = all
		return err == nil
	})
	h.Generations = s.generations()
	h.LogLines = s.processes.logLines
}

// metric returns one value of the /metrics of a process, or "" if it is missing.
func metric(tb testing.TB, addr, name string) string {
	tb.Helper()
	resp, err := (&http.Client{Timeout: waittest.Limit(2 * time.Second)}).Get("http://" + addr + "/metrics")
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
