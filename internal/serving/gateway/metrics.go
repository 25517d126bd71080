package gateway

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/gorizond/koldun/internal/serving/gateway/limits"
)

// metrics are those of the gateway. Labels have few values: endpoints are those
// of the API, models those of the registry. No client can add one.
type metrics struct {
	registry  *prometheus.Registry
	inFlight  prometheus.Gauge
	admission prometheus.Histogram
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	outcomes  *prometheus.CounterVec

	queued     *prometheus.HistogramVec
	firstToken *prometheus.HistogramVec
	perToken   *prometheus.HistogramVec
	duration   *prometheus.HistogramVec
	tokens     *prometheus.HistogramVec
	refusals   *prometheus.CounterVec
}

// modelMetrics are the metrics of one model.
type modelMetrics struct {
	queued, firstToken, perToken, duration prometheus.Observer
	tokensIn, tokensOut                    prometheus.Observer
}

// Buckets in seconds. An answer takes from milliseconds (a tiny model) to many
// minutes (a large one on small machines).
var (
	short = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}
	// tokens are the buckets of OpenTelemetry's conventions.
	tokens = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576}
	long   = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800}
)

func newMetrics() *metrics {
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	genAI := []string{"gen_ai_operation_name", "gen_ai_response_model"}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "koldun_gateway_requests_in_flight", Help: "HTTP requests that are being answered.",
		}),
		admission: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "koldun_gateway_admission_seconds", Help: "Time from the first byte of a request for text until it is stored.", Buckets: short,
		}),
		requests:  counter("koldun_gateway_requests_total", "HTTP requests answered.", "endpoint", "status"),
		durations: histogram("koldun_gateway_request_seconds", "Time to answer an HTTP request.", long, "endpoint"),
		outcomes:  counter("koldun_gateway_texts_total", "Queued requests for text by how they ended for the client.", "model", "outcome"),
		queued:    histogram("koldun_gateway_queue_seconds", "Time from a request for text until the engine starts.", long, "model"),
		// The names of OpenTelemetry's conventions for generative AI
		// (gen_ai.server.*), as Prometheus writes them.
		firstToken: histogram("gen_ai_server_time_to_first_token_seconds", "Time from a request for text until the first text.", long, genAI...),
		perToken:   histogram("gen_ai_server_time_per_output_token_seconds", "Time per token after the first.", short, genAI...),
		duration:   histogram("gen_ai_server_request_duration_seconds", "Time from a request for text until its end.", long, genAI...),
		tokens:     histogram("gen_ai_client_token_usage", "Tokens of a request, by direction.", tokens, append(genAI, "gen_ai_token_type")...),
		refusals:   counter("koldun_gateway_refused_total", "Requests for text that a limit refused.", "limit"),
	}
	m.registry.MustRegister(m.inFlight, m.admission, m.requests, m.durations, m.outcomes, m.queued,
		m.firstToken, m.perToken, m.duration, m.tokens, m.refusals,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) request(endpoint string, status int, took time.Duration) {
	m.requests.WithLabelValues(endpoint, strconv.Itoa(status)).Inc()
	m.durations.WithLabelValues(endpoint).Observe(took.Seconds())
}

func (m *metrics) outcome(model, outcome string) { m.outcomes.WithLabelValues(model, outcome).Inc() }

func (m *metrics) refused(limit limits.Limit) { m.refusals.WithLabelValues(string(limit)).Inc() }

// of returns the metrics of a model, which must be one of the registry.
func (m *metrics) of(model, operation string) modelMetrics {
	return modelMetrics{
		queued:     m.queued.WithLabelValues(model),
		firstToken: m.firstToken.WithLabelValues(operation, model),
		perToken:   m.perToken.WithLabelValues(operation, model),
		duration:   m.duration.WithLabelValues(operation, model),
		tokensIn:   m.tokens.WithLabelValues(operation, model, "input"),
		tokensOut:  m.tokens.WithLabelValues(operation, model, "output"),
	}
}
