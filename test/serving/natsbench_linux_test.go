package serving_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/history"
)

// BenchmarkNATSServers measures the whole chain with one NATS server, and with three that
// keep all streams and buckets three times, for ways to sync writes to disk. Numbers that
// begin with x are ratios to the first case, which is measured in the same run.
func BenchmarkNATSServers(b *testing.B) {
	const clients, requests = 64, 1000
	var base map[string]float64
	for _, c := range []struct {
		name string
		plan plan
	}{
		{"servers=1/sync=default", plan{}},
		{"servers=1/sync=always", plan{sync: true}},
		{"servers=3/sync=default", plan{cluster: true}},
		{"servers=3/sync=10s", plan{cluster: true, syncEvery: 10 * time.Second}},
		{"servers=3/sync=always", plan{cluster: true, sync: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := c.plan
			p.gateways, p.dispatchers, p.runners = 1, 1, 8
			p.tenants = []history.Tenant{history.NewTenant("bench")}
			s := newStack(b, p)
			s.tenant = p.tenants[0]
			conn := s.broker.bus()
			replicas := 1
			if p.cluster {
				replicas = 3
			}
			subject := benchStream(b, conn, replicas)
			var published, served []time.Duration
			for i := 0; b.Loop(); i++ {
				published = append(published, publish(b, conn, subject))
				took, err := firstByte(s.urls[0], s.tenant, i)
				if err != nil {
					b.Fatal(err)
				}
				served = append(served, took)
				time.Sleep(5 * time.Millisecond) // wait until the end is reported and all processes are idle
			}
			all := make([]*lightClient, clients)
			for i := range all {
				all[i] = newLightClient(b, s.urls[0], s.tenant)
			}
			rate := parallel(requests, clients, func(client, i int) {
				if err := all[client].send(history.Prompt{ID: fmt.Sprintf("t%d", i), N: 1}, false); err != nil {
					b.Error(err)
				}
			})
			got := map[string]float64{
				"publish-p50-us":    float64(median(published).Microseconds()),
				"first-byte-p50-us": float64(median(served).Microseconds()),
				"req/s":             rate,
			}
			if base == nil {
				base = got
			}
			for unit, n := range got {
				b.ReportMetric(n, unit)
				b.ReportMetric(n/base[unit], "x-"+unit)
			}
		})
	}
}
