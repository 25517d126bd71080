package httpserver

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
)

func TestHealth(t *testing.T) {
	ok := Check{Name: "good", Probe: func(context.Context) error { return nil }}
	bad := Check{Name: "nats", Probe: func(context.Context) error { return errors.New("not connected") }}
	hangs := Check{Name: "slow", Probe: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}

	reg := prometheus.NewRegistry()
	reg.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "koldun_test_total", Help: "A test."}))

	cases := map[string]struct {
		method, path string
		checks       []Check
		stuck        bool // add a check that blocks until the end of the test
		status       int
		body         string
	}{
		"Alive":      {path: "/healthz", checks: []Check{bad}, status: 200, body: "ok\n"},
		"ReadyEmpty": {path: "/readyz", status: 200, body: "ok\n"},
		"Ready":      {path: "/readyz", checks: []Check{ok}, status: 200, body: "good: ok\n"},
		"NotReady":   {path: "/readyz", checks: []Check{ok, bad}, status: 503, body: "good: ok\nnats: not connected\n"},
		"Slow":       {path: "/readyz", checks: []Check{ok, hangs}, status: 503, body: "slow: "},
		"Stuck":      {path: "/readyz", checks: []Check{ok}, stuck: true, status: 503, body: "good: ok\nstuck: no answer within"},
		"Metrics":    {path: "/metrics", status: 200, body: "koldun_test_total 0"},
		"Unknown":    {path: "/", status: 404, body: ""},
		"Post":       {method: http.MethodPost, path: "/readyz", status: 405, body: ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // time does not pass while a check can answer
				if c.stuck {
					end := make(chan bool)
					defer close(end)
					c.checks = append(c.checks, Check{Name: "stuck", Probe: func(context.Context) error { <-end; return nil }})
				}
				w := httptest.NewRecorder()
				if c.method == "" {
					c.method = http.MethodGet
				}
				Health(reg, c.checks...).ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
				if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) {
					t.Errorf("got %d %q, want %d %q", w.Code, w.Body.String(), c.status, c.body)
				}
			})
		})
	}
}
