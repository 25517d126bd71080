package cluster

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Metrics of Crossplane's core that tests read.
const (
	// BreakerOpens counts openings of circuit breakers of composites.
	BreakerOpens = "circuit_breaker_opens_total"
	// BreakerEvents counts the events that circuit breakers passed or dropped.
	BreakerEvents = "circuit_breaker_events_total"
	// FunctionCalls counts requests to functions.
	FunctionCalls = "function_run_function_request_total"
)

// CrossplaneMetric returns the sum of all series of a metric of Crossplane's core. A
// metric without series is 0.
func (c *Cluster) CrossplaneMetric(ctx context.Context, name string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.crossplane.metrics, nil)
	if err != nil {
		return 0, fmt.Errorf("cannot read metrics of Crossplane: %w", err)
	}
	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("cannot read metrics of Crossplane: %w", err)
	}
	defer rsp.Body.Close() //nolint:errcheck // it was only read
	sum := 0.0
	lines := bufio.NewScanner(rsp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		// name{labels} value, or name value
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok || rest == "" || rest[0] != '{' && rest[0] != ' ' {
			continue
		}
		v, err := strconv.ParseFloat(rest[strings.LastIndex(rest, " ")+1:], 64)
		if err != nil {
			return 0, fmt.Errorf("cannot parse metric %q: %w", name, err)
		}
		sum += v
	}
	return sum, lines.Err()
}
