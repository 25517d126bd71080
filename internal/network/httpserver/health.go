package httpserver

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// checkTimeout limits one readiness check. The kubelet's default timeout is 1 s.
const checkTimeout = 900 * time.Millisecond

// A Check is one condition of readiness.
type Check struct {
	Name string
	// Probe returns nil if the condition holds, else the cause, a text for
	// operators without secrets. It must be safe for concurrent use and stop
	// when ctx ends.
	Probe func(ctx context.Context) error
}

// Health serves GET /healthz (the process is alive), /readyz (200 if all checks
// hold, else 503 with a line per failed check) and, if g is not nil, /metrics.
// Serve it on an internal port.
func Health(g prometheus.Gatherer, checks ...Check) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeText(w, http.StatusOK, "ok\n")
	})
	mux.Handle("GET /readyz", Checks(checks...))
	if g != nil {
		mux.Handle("GET /metrics", promhttp.HandlerFor(g, promhttp.HandlerOpts{}))
	}
	return mux
}

// Checks answers with 200 if all checks hold, else 503 with a line per failed check.
func Checks(checks ...Check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, text := runChecks(r.Context(), checks)
		writeText(w, status, text)
	})
}

func runChecks(ctx context.Context, checks []Check) (int, string) {
	results := make(chan func(), len(checks))
	errs := make([]error, len(checks))
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for i, c := range checks {
		go func() {
			err := c.Probe(ctx)
			results <- func() { errs[i] = err }
		}()
	}
	for i := range errs {
		errs[i] = fmt.Errorf("no answer within %v", checkTimeout)
	}
wait:
	for range checks {
		select {
		case set := <-results:
			set()
		case <-ctx.Done():
			break wait
		}
	}
	status, text := http.StatusOK, new(strings.Builder)
	for i, c := range checks {
		if errs[i] == nil {
			fmt.Fprintf(text, "%s: ok\n", c.Name)
			continue
		}
		status = http.StatusServiceUnavailable
		fmt.Fprintf(text, "%s: %v\n", c.Name, errs[i])
	}
	if len(checks) == 0 {
		text.WriteString("ok\n")
	}
	return status, text.String()
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}
