package sidecar

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// metrics of one runner. Names follow OpenTelemetry's semantic conventions for
// generative AI servers where there is one.
type metrics struct {
	registry *prometheus.Registry
	states   map[queue.RunnerState]prometheus.Gauge
	attempts *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	first    prometheus.Histogram
	between  prometheus.Histogram
	duration prometheus.Histogram
	restarts prometheus.Counter
	slots    prometheus.Gauge
	running  prometheus.Gauge
	taken    prometheus.Gauge
	load     *prometheus.GaugeVec
}

func newMetrics() *metrics {
	state := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "koldun_runner_state", Help: "1 for the state the runner is in.",
	}, []string{"state"})
	m := &metrics{
		registry: prometheus.NewRegistry(),
		states:   map[queue.RunnerState]prometheus.Gauge{},
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "koldun_runner_attempts_total", Help: "Attempts that ended, by how.",
		}, []string{"result"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "koldun_runner_tokens_total", Help: "Tokens of attempts that ended, by direction.",
		}, []string{"type"}),
		first: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gen_ai_server_time_to_first_token_seconds", Help: "From the start of an attempt to its first token.",
			Buckets: []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 30, 60, 120, 300, 900},
		}),
		between: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gen_ai_server_time_per_output_token_seconds", Help: "From one token to the next.",
			Buckets: []float64{.001, .01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 10, 30},
		}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gen_ai_server_request_duration_seconds", Help: "How long attempts take.",
			Buckets: []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 300, 900, 3600},
		}),
		slots: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "koldun_runner_slots", Help: "Requests that the engine computes at the same time.",
		}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "koldun_runner_attempts_running", Help: "Attempts that the engine works on.",
		}),
		taken: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "koldun_runner_slots_taken", Help: "Slots that the runner does not offer, because requests from elsewhere keep its server busy.",
		}),
		load: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "koldun_runner_server_requests", Help: "Requests of all clients in the server, by its own metrics.",
		}, []string{"state"}),
		restarts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "koldun_runner_engine_restarts_total", Help: "How often the engine was restarted because it had fallen silent.",
		}),
	}
	m.registry.MustRegister(m.slots, m.running, m.taken, m.load, m.restarts, state, m.attempts, m.tokens, m.first, m.between, m.duration,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, s := range []queue.RunnerState{queue.RunnerStarting, queue.RunnerIdle, queue.RunnerBusy, queue.RunnerDraining} {
		m.states[s] = state.WithLabelValues(string(s))
	}
	m.setState(queue.RunnerStarting)
	return m
}

func (m *metrics) setState(now queue.RunnerState) {
	for s, gauge := range m.states {
		value := 0.0
		if s == now {
			value = 1
		}
		gauge.Set(value)
	}
}

func (m *metrics) setLoad(l engineapi.Load) {
	m.load.WithLabelValues("running").Set(float64(l.Running))
	m.load.WithLabelValues("waiting").Set(float64(l.Waiting))
}

// token records n tokens that arrived together at the time now, after the last ones.
func (m *metrics) token(last, now time.Time, n int, isFirst bool) {
	each := now.Sub(last).Seconds()
	if isFirst {
		m.first.Observe(each)
		n, each = n-1, 0
	} else {
		each /= float64(max(n, 1))
	}
	for range n {
		m.between.Observe(each)
	}
}

func (m *metrics) attempt(end queue.AttemptEnd) {
	result := "completed"
	if end.Error != nil {
		result = end.Error.Code
	}
	m.attempts.WithLabelValues(result).Inc()
	m.tokens.WithLabelValues("input").Add(float64(end.Usage.PromptTokens))
	m.tokens.WithLabelValues("output").Add(float64(end.Usage.CompletionTokens))
	m.duration.Observe(end.Ended.Sub(end.Started).Seconds())
}
