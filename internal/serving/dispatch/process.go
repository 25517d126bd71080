package dispatch

import (
	"crypto/rand"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// A process is what all sessions of a dispatcher share. Its fields do not change, and what
// they point to has its own locks.
type process struct {
	cfg      Config
	instance string // distinguishes processes with the same identity
	metrics  *metrics
	requests *queue.Queue
	models   *models
}

func newProcess(cfg Config) *process {
	p := &process{
		cfg:      cfg,
		instance: rand.Text(),
		metrics:  newMetrics(),
		requests: queue.New(cfg.Bus),
		models:   &models{records: map[string]queue.Members{}},
	}
	p.metrics.registry.MustRegister(cfg.Bus.Metrics()...)
	return p
}
