package dispatch

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// metrics are those of one dispatcher, summed over the sessions it leads, so that the
// number of label values is bounded.
type metrics struct {
	registry *prometheus.Registry
	leading  prometheus.Gauge
	queued   prometheus.Gauge
	running  prometheus.Gauge
	runners  *prometheus.GaugeVec
	slots    prometheus.Gauge
	outcomes *prometheus.CounterVec
	groups   *prometheus.CounterVec
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
		groups: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "koldun_group_requests_total", Help: "Requests that ended, by the group of the last runner and how. Only groups with a name count.",
		}, []string{"group", "state"}),
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
	m.registry.MustRegister(m.leading, m.queued, m.running, m.runners, m.slots, m.outcomes, m.groups, m.tokens, m.retries, m.dead, m.wait, m.first, m.duration,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) ended(o queue.Outcome) {
	m.outcomes.WithLabelValues(string(o.State)).Inc()
	if o.Group != "" {
		m.groups.WithLabelValues(o.Group, string(o.State)).Inc()
	}
	m.tokens.WithLabelValues("input").Add(float64(o.Usage.PromptTokens))
	m.tokens.WithLabelValues("output").Add(float64(o.Usage.CompletionTokens))
	m.duration.Observe(o.Ended.Sub(o.Created).Seconds())
	if !o.First.IsZero() {
		m.first.Observe(o.First.Sub(o.Created).Seconds())
	}
}

// gaugeValues are a leader's contribution to the gauges.
type gaugeValues struct {
	queued, running int
	slots           int
	runners         map[queue.RunnerState]int
}
