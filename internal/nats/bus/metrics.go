package bus

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// counts are what a connection counts.
type counts struct {
	violations atomic.Int64
	renewals   atomic.Int64
}

// Metrics returns the metrics of the connection.
func (c *connection) Metrics() []prometheus.Collector {
	counter := func(name, help string, of *atomic.Int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(of.Load()) })
	}
	return []prometheus.Collector{
		counter("koldun_nats_permission_violations_total",
			"Messages and subscriptions that NATS refused, because the user of this process has no right to their subject.", &c.counts.violations),
		counter("koldun_nats_credential_renewals_total", "Reconnects with newer credentials.", &c.counts.renewals),
	}
}
