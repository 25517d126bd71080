package serving_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// metric reads one value of a process's /metrics, "" if it has none now.
func metric(tb testing.TB, addr, name string) string {
	tb.Helper()
	resp, err := (&http.Client{Timeout: 2 * time.Second}).Get("http://" + addr + "/metrics")
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
