package engineapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/fault"
)

// A Load is how many requests a server computes, and how many wait in it. They come
// from all of its clients.
type Load struct {
	Running, Waiting int
}

// maxMetrics limits the metrics that are read: those of vLLM are below 1 MiB.
const maxMetrics = 8 << 20 // bytes

// Load reads how busy the server is. Errors: Unsupported if the server does not say,
// or those of send.
func (s *Server) Load(ctx context.Context) (Load, error) {
	resp, err := s.sendTo(ctx, http.MethodGet, strings.TrimSuffix(s.base, "/v1")+"/metrics", nil)
	if err != nil {
		return Load{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if code := resp.StatusCode; code != http.StatusOK {
		kind := fault.Unsupported
		if code == http.StatusTooManyRequests || code > http.StatusNotImplemented {
			kind = fault.Transient
		}
		return Load{}, fault.Errorf(kind, "cannot read the metrics of the server at %s: it answered %s", s.base, resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxMetrics))
	if err != nil {
		return Load{}, fault.Errorf(fault.Transient, "cannot read the metrics of the server at %s: %w", s.base, err)
	}
	load, err := parseLoad(bytes.NewReader(text), s.cfg.Load)
	if err != nil {
		return Load{}, fault.Errorf(fault.Unsupported, "cannot read the metrics of the server at %s: %w", s.base, err)
	}
	return load, nil
}

// parseLoad reads metrics in Prometheus' text format.
func parseLoad(text io.Reader, names engine.LoadMetrics) (Load, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return Load{}, err
	}
	running, waiting := families[names.Running], families[names.Waiting]
	for name, f := range map[string]*dto.MetricFamily{names.Running: running, names.Waiting: waiting} {
		if len(f.GetMetric()) == 0 {
			return Load{}, fault.Errorf(fault.Unsupported, "there is no metric %q", name)
		}
	}
	return Load{Running: total(running), Waiting: total(waiting)}, nil
}

// total adds up a metric over its labels: a server of several processes has one
// value for each.
func total(f *dto.MetricFamily) int {
	sum := 0.0
	for _, m := range f.GetMetric() {
		sum += m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
	}
	if sum >= 0 && sum < maxCount { // not NaN
		return int(sum)
	}
	return 0
}

// maxCount is more requests than any server has.
const maxCount = 1 << 30
