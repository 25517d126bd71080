package gateway

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are the gateway's own. Labels take few values: endpoints are words
// of ours, models are those of the registry.
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
	tokens     *prometheus.CounterVec
}

// modelMetrics are the metrics of one model.
type modelMetrics struct {
	queued, firstToken, perToken, duration prometheus.Observer
	tokensIn, tokensOut                    prometheus.Counter
}

// Buckets in seconds. An answer takes from milliseconds (a tiny model) to many
// minutes (a large one on small machines).
var (
	short = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}
	long  = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800}
)

func newMetrics() *metrics {
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "koldun_gateway_requests_in_flight", Help: "HTTP requests that are being answered.",
		}),
		admission: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "koldun_gateway_admission_seconds", Help: "Time from the first byte of a chat request until it is stored.", Buckets: short,
		}),
		requests:  counter("koldun_gateway_requests_total", "HTTP requests answered.", "endpoint", "status"),
		durations: histogram("koldun_gateway_request_seconds", "Time to answer an HTTP request.", long, "endpoint"),
		outcomes:  counter("koldun_gateway_chats_total", "Queued chat requests by how they ended for the client.", "model", "outcome"),
		queued:    histogram("koldun_gateway_queue_seconds", "Time from a chat request until the engine starts.", long, "model"),
		// The names of OpenTelemetry's conventions for generative AI
		// (gen_ai.server.*), as Prometheus writes them.
		firstToken: histogram("gen_ai_server_time_to_first_token_seconds", "Time from a chat request until the first text.", long, "gen_ai_response_model"),
		perToken:   histogram("gen_ai_server_time_per_output_token_seconds", "Time per token after the first.", short, "gen_ai_response_model"),
		duration:   histogram("gen_ai_server_request_duration_seconds", "Time from a chat request until its end.", long, "gen_ai_response_model"),
		tokens:     counter("koldun_gateway_tokens_total", "Tokens read and written.", "model", "type"),
	}
	m.registry.MustRegister(m.inFlight, m.admission, m.requests, m.durations, m.outcomes, m.queued,
		m.firstToken, m.perToken, m.duration, m.tokens,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) request(endpoint string, status int, took time.Duration) {
	m.requests.WithLabelValues(endpoint, strconv.Itoa(status)).Inc()
	m.durations.WithLabelValues(endpoint).Observe(took.Seconds())
}

func (m *metrics) outcome(model, outcome string) { m.outcomes.WithLabelValues(model, outcome).Inc() }

// of is for models of the registry only, which are few.
func (m *metrics) of(model string) modelMetrics {
	return modelMetrics{
		queued:     m.queued.WithLabelValues(model),
		firstToken: m.firstToken.WithLabelValues(model),
		perToken:   m.perToken.WithLabelValues(model),
		duration:   m.duration.WithLabelValues(model),
		tokensIn:   m.tokens.WithLabelValues(model, "input"),
		tokensOut:  m.tokens.WithLabelValues(model, "output"),
	}
}
