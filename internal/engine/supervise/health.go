package supervise

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gorizond/koldun/internal/model/progress"
)

// health serves GET /healthz (200 while the process runs or a start may still
// succeed), /readyz (200 if the process fulfils its role; the body is the state in
// one line, and a header names the session), /progress of loading, /session, /metrics,
// and POST /restart.
func (s *supervisor) health() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{s})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if !s.healthy() {
			answer(w, http.StatusServiceUnavailable, "it keeps ending at once")
			return
		}
		answer(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		now, session, _ := s.out.session(s.view())
		status := http.StatusServiceUnavailable
		if now.Ready(s.role) {
			status = http.StatusOK
		}
		w.Header().Set(sessionHeader, session)
		answer(w, status, now.String())
	})
	mux.Handle("GET "+progress.Path, progress.Handler(func() (progress.Summary, bool) { return s.out.progress(s.view()) }))
	mux.HandleFunc("GET /session", s.handleSession)
	mux.HandleFunc("POST /restart", s.handleRestart)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return mux
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}

// A collector reads the state at each scrape.
type collector struct{ s *supervisor }

type descs struct{ restarts, state, loaded, total *prometheus.Desc }

func (c collector) descs() descs {
	return descs{
		restarts: prometheus.NewDesc("koldun_supervised_restarts_total", "How often the engine has been started again.", nil, nil),
		state:    prometheus.NewDesc("koldun_supervised_state", "1 for the state the engine is in.", []string{"state"}, nil),
		loaded:   prometheus.NewDesc("koldun_supervised_loaded", "Layers that a root, or tensors that a worker, has loaded while it loads.", nil, nil),
		total:    prometheus.NewDesc("koldun_supervised_to_load", "Layers that a root loads while it loads; 0 if unknown.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	d := c.descs()
	ch <- d.restarts
	ch <- d.state
	ch <- d.loaded
	ch <- d.total
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	d := c.descs()
	now, _ := c.s.look()
	ch <- prometheus.MustNewConstMetric(d.restarts, prometheus.CounterValue, float64(c.s.restarts()))
	ch <- prometheus.MustNewConstMetric(d.loaded, prometheus.GaugeValue, float64(now.Loaded))
	ch <- prometheus.MustNewConstMetric(d.total, prometheus.GaugeValue, float64(now.Total))
	for _, p := range phases() {
		value := 0.0
		if p == now.Phase {
			value = 1
		}
		ch <- prometheus.MustNewConstMetric(d.state, prometheus.GaugeValue, value, string(p))
	}
}
