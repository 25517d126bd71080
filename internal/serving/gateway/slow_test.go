package gateway

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestConnectionIsUsedAgain checks that the deadlines of one request do not affect
// the next one. A busy machine may miss short deadlines, but not long ones.
func TestConnectionIsUsedAgain(t *testing.T) {
	var err error
	for _, deadline := range []time.Duration{time.Second, 5 * time.Second, 25 * time.Second} {
		if err = useAgain(t, deadline); err == nil {
			return
		}
		t.Logf("deadlines of %v: %v", deadline, err)
	}
	t.Error(err)
}

func useAgain(t *testing.T, deadline time.Duration) error {
	t.Helper()
	w := newWorld(t, func(_ *Config, p *timing) { p.write, p.body = deadline, deadline })
	runner := startRunner(t, w.bus, tinySession, replies("x"))
	ids := map[string]bool{}
	for range 2 {
		r, body, err := w.try("POST", "/v1/chat/completions", chatBody(streaming))
		if err != nil {
			return err
		}
		if r.StatusCode != http.StatusOK || !strings.Contains(body, "[DONE]") {
			return fmt.Errorf("%d %s", r.StatusCode, body)
		}
		ids[r.Header.Get("X-Request-Id")] = true
		<-time.After(deadline * 6 / 5)
	}
	if len(ids) != 2 || len(runner.seen()) != 2 {
		return fmt.Errorf("%d ids, %d requests", len(ids), len(runner.seen()))
	}
	return nil
}
