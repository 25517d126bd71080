package manager

import (
	"fmt"
	"net/http"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/gorizond/koldun/internal/network/httpserver"
)

// guardMetrics lets requests for metrics pass what those of all servers pass.
func guardMetrics(*rest.Config, *http.Client) (server.Filter, error) {
	return func(_ logr.Logger, h http.Handler) (http.Handler, error) { return httpserver.Guard(h), nil }, nil
}

// metricOptions registers what is measured of managed resources.
func metricOptions(countEvery time.Duration) (*controller.MetricOptions, error) {
	times := managed.NewMRMetricRecorder()
	o := &controller.MetricOptions{MRMetrics: times, PollStateMetricInterval: countEvery}
	all := []prometheus.Collector{times}
	if countEvery > 0 {
		o.MRStateMetrics = statemetrics.NewMRStateMetrics()
		all = append(all, o.MRStateMetrics)
	}
	for _, c := range all {
		metrics.Registry.Unregister(c) // of an earlier Manager of this process
		if err := metrics.Registry.Register(c); err != nil {
			return nil, fmt.Errorf("cannot register metrics: %w", err)
		}
	}
	return o, nil
}
