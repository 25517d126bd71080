package dispatch

import (
	"context"
	"errors"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/gorizond/koldun/internal/httpserver"
	"github.com/gorizond/koldun/internal/queue"
)

// metrics of one dispatcher, over all sessions it leads: labels are bounded.
type metrics struct {
	registry *prometheus.Registry
	leading  prometheus.Gauge
	queued   prometheus.Gauge
	running  prometheus.Gauge
	runners  *prometheus.GaugeVec
	slots    prometheus.Gauge
	outcomes *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	retries  prometheus.Counter
	dead     prometheus.Counter
	wait     prometheus.Histogram
	first    prometheus.Histogram
	duration prometheus.Histogram
}

func newMetrics() *metrics {
	seconds := []float64{.005, .01, .05, .1, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 1800, 3600}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		leading:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "koldun_dispatcher_sessions", Help: "Sessions led."}),
		queued:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "koldun_dispatcher_queued", Help: "Requests that wait for a runner."}),
		running:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "koldun_dispatcher_running", Help: "Requests that a runner has."}),
		runners: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "koldun_dispatcher_runners", Help: "Runners of the sessions led, by state.",
		}, []string{"state"}),
		slots: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "koldun_dispatcher_slots", Help: "Requests that the idle and busy runners can compute at the same time.",
		}),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "koldun_requests_total", Help: "Requests that ended, by how.",
		}, []string{"state"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "koldun_tokens_total", Help: "Tokens of requests that ended, by direction.",
		}, []string{"type"}),
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "koldun_dispatcher_retries_total", Help: "Attempts that failed before their first token and were tried elsewhere.",
		}),
		dead: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "koldun_dispatcher_dead_letters_total", Help: "Requests that no runner could serve and that were kept as dead letters.",
		}),
		wait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "koldun_queue_wait_seconds", Help: "From a request's creation until a runner has accepted it.", Buckets: seconds,
		}),
		first: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "koldun_time_to_first_token_seconds", Help: "From a request's creation to its first token, the queue included.", Buckets: seconds,
		}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "koldun_request_duration_seconds", Help: "From a request's creation to its end.", Buckets: seconds,
		}),
	}
	m.registry.MustRegister(m.leading, m.queued, m.running, m.runners, m.slots, m.outcomes, m.tokens, m.retries, m.dead, m.wait, m.first, m.duration,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) ended(o queue.Outcome) {
	m.outcomes.WithLabelValues(string(o.State)).Inc()
	m.tokens.WithLabelValues("input").Add(float64(o.Usage.PromptTokens))
	m.tokens.WithLabelValues("output").Add(float64(o.Usage.CompletionTokens))
	m.duration.Observe(o.Ended.Sub(o.Created).Seconds())
	if !o.First.IsZero() {
		m.first.Observe(o.First.Sub(o.Created).Seconds())
	}
}

// A census is a leader's contribution to the gauges.
type census struct {
	queued, running int
	slots           int
	runners         map[queue.RunnerState]int
}

// report updates the leader's contribution to the shared gauges, or removes it.
func (l *leader) report(leaving bool) {
	now := census{runners: map[queue.RunnerState]int{}}
	if !leaving {
		now.queued = l.queue.Len()
		for _, j := range l.jobs {
			if j.held() {
				now.running++
			}
		}
		for _, p := range l.peers {
			now.runners[p.rec.State]++
			if p.rec.State == queue.RunnerIdle || p.rec.State == queue.RunnerBusy {
				now.slots += p.capacity
			}
		}
	}
	m := l.m.metrics
	m.queued.Add(float64(now.queued - l.census.queued))
	m.running.Add(float64(now.running - l.census.running))
	m.slots.Add(float64(now.slots - l.census.slots))
	for _, s := range []queue.RunnerState{queue.RunnerStarting, queue.RunnerIdle, queue.RunnerBusy, queue.RunnerDraining} {
		m.runners.WithLabelValues(string(s)).Add(float64(now.runners[s] - l.census.runners[s]))
	}
	l.census = now
}

// health serves /healthz, /readyz (NATS is connected and its buckets are read) and
// /metrics.
func (m *manager) health() http.Handler {
	return httpserver.Health(m.metrics.registry,
		httpserver.Check{Name: "nats", Probe: func(context.Context) error { return m.cfg.Bus.Lost() }},
		httpserver.Check{Name: "state", Probe: func(context.Context) error {
			if !m.isSynced() {
				return errors.New("leases and runners are not read yet")
			}
			return nil
		}},
	)
}
