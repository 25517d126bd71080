package api

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gorizond/koldun/internal/engine/llama"
)

// Outcomes of requests, besides the finish reasons.
const (
	outcomeCancelled  = "cancelled"  // the client left
	outcomeRefused    = "refused"    // the request cannot be answered
	outcomeOverloaded = "overloaded" // too many wait
	outcomeFailed     = "failed"     // the engine or the server ended
)

// Metrics counts what the engine does, in a registry of its own.
type Metrics struct {
	registry     *prometheus.Registry
	requests     *prometheus.CounterVec
	inFlight     prometheus.Gauge
	promptTokens prometheus.Counter
	cachedTokens prometheus.Counter
	tokens       prometheus.Counter
	duration     prometheus.Histogram
	promptTime   prometheus.Histogram
	tokenTime    prometheus.Histogram
}

// NewMetrics makes the metrics and their registry.
func NewMetrics() *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	// From a tiny model on a fast machine to a large one on a slow machine.
	histogram := func(name, help string, least float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(least, 2.5, 13)})
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "koldun_engine_requests_total", Help: "Chat requests by how they ended.",
		}, []string{"outcome"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "koldun_engine_requests_in_flight", Help: "Chat requests that are being answered or wait for the engine.",
		}),
		promptTokens: counter("koldun_engine_prompt_tokens_total", "Tokens of prompts, those in the cache included."),
		cachedTokens: counter("koldun_engine_cached_prompt_tokens_total", "Tokens of prompts that were in the cache."),
		tokens:       counter("koldun_engine_completion_tokens_total", "Tokens of answers."),
		duration:     histogram("koldun_engine_request_seconds", "Time from a chat request to the end of its answer, waiting included.", .01),
		promptTime:   histogram("koldun_engine_prompt_seconds", "Time to evaluate a prompt.", .001),
		tokenTime:    histogram("koldun_engine_token_seconds", "Time per token of an answer, on average over the answer.", .0001),
	}
	m.registry.MustRegister(m.requests, m.inFlight, m.promptTokens, m.cachedTokens, m.tokens, m.duration, m.promptTime, m.tokenTime)
	return m
}

// Gatherer returns the source of the metrics for the health endpoints.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

func (m *Metrics) refused() { m.requests.WithLabelValues(outcomeRefused).Inc() }

func (m *Metrics) overloaded() { m.requests.WithLabelValues(outcomeOverloaded).Inc() }

func (m *Metrics) done(outcome string, r llama.Result, took time.Duration) {
	m.requests.WithLabelValues(outcome).Inc()
	if r.PromptTime == 0 {
		return // it ended before its first token
	}
	m.promptTokens.Add(float64(r.PromptTokens))
	m.cachedTokens.Add(float64(r.CachedTokens))
	m.tokens.Add(float64(r.Tokens))
	m.duration.Observe(took.Seconds())
	m.promptTime.Observe(r.PromptTime.Seconds())
	if r.Tokens > 0 {
		m.tokenTime.Observe(r.AnswerTime.Seconds() / float64(r.Tokens))
	}
}
