package gateway

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

func TestTimeLimitOfHeader(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"": 0, "30": 30 * time.Second, "0.25": 250 * time.Millisecond, "1m30s": 90 * time.Second, "1e300": maxTimeLimit, "+Inf": maxTimeLimit, "900h": maxTimeLimit,
	} {
		if got, refused := timeLimit(header, 0); refused != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", header, got, refused, want)
		}
		if got, _ := timeLimit(header, time.Second); got != time.Second && got != want || got > time.Second || got == 0 {
			t.Errorf("%q: got %v above the limit of the gateway", header, got)
		}
	}
	for _, header := range []string{"0", "-1", "NaN", "-Inf", "1e-300", "0s", "-5m", "soon", "1 s"} {
		if got, refused := timeLimit(header, 0); refused == nil || refused.Status != http.StatusBadRequest || refused.Param != headerTimeout {
			t.Errorf("%q: got %v, %v", header, got, refused)
		}
	}
}

// The limit goes with the request. The gateway enforces it without dispatcher and runner,
// a little later than they do.
func TestTimeLimitOfARequest(t *testing.T) {
	w := newWorld(t, func(c *Config, p *timing) {
		c.RequestTimeout, p.overdue, p.quiet, p.keepAlive = time.Hour, 50*time.Millisecond, time.Minute, time.Minute
	})
	runner := startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		if s.chat.Messages[0].Content == "reported" {
			s.fail(queue.CodeDeadline, "x")
			return
		}
		<-ctx.Done()
	})
	for name, c := range map[string]struct{ text, more, limit string }{
		"Reported": {"reported", "", "1h"}, "ReportedStream": {"reported", streaming, "3600"},
		"Silent": {"silent", "", "0.1"}, "SilentStream": {"silent", streaming, "100ms"},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(runner.seen())
			r, body := w.do("POST", "/v1/chat/completions", strings.Replace(chatBody(c.more), "hello", c.text, 1), headerTimeout, c.limit)
			e := decodeError(t, body)
			limit, _ := parseTimeLimit(c.limit)
			if r.StatusCode != http.StatusGatewayTimeout || e.Code != "deadline_exceeded" || !strings.Contains(e.Message, limit.String()) || r.Header.Get("X-Should-Retry") != "false" {
				t.Errorf("got %d %s", r.StatusCode, body)
			}
			// A busy machine gives it to the runner after its limit.
			waittest.Until(t, "the runner gets the request", func() bool { return len(runner.seen()) > before })
			last := runner.seen()[before]
			if got := last.EndBy.Sub(last.Created); got != limit {
				t.Errorf("the request was queued with a limit of %v, want %v", got, limit)
			}
			if c.text == "silent" {
				waittest.Until(t, "it is cancelled", func() bool {
					reason, ok := runner.cancellation(last.ID)
					return ok && reason == "deadline_exceeded"
				})
			}
		})
	}
	var counted dto.Metric
	if err := w.gateway.metrics.outcomes.WithLabelValues("default/tiny", queue.CodeDeadline).Write(&counted); err != nil || counted.GetCounter().GetValue() != 4 {
		t.Errorf("the metric counts %v, want 4: %v", counted.GetCounter(), err)
	}
	if r, body := w.do("POST", "/v1/chat/completions", chatBody(""), headerTimeout, "soon"); r.StatusCode != http.StatusBadRequest {
		t.Errorf("got %d %s", r.StatusCode, body)
	}
}
