package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/waittest"
)

// serveMetrics serves external.metrics.k8s.io, as the adapter of a monitoring system
// does, with metrics of one namespace. It answers 404 for others.
func (p *suite) serveMetrics(t *testing.T, ns string, values map[string]int) {
	t.Helper()
	const group = "/apis/external.metrics.k8s.io/v1beta1"
	answer := func(format string, args ...any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, format, args...)
		}
	}
	mux := http.NewServeMux()
	mux.Handle(group, answer(`{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "external.metrics.k8s.io/v1beta1", "resources": []}`))
	for metric, value := range values {
		mux.Handle(group+"/namespaces/"+ns+"/"+metric, answer(`{"kind": "ExternalMetricValueList", "apiVersion": "external.metrics.k8s.io/v1beta1",
  "items": [{"metricName": %q, "metricLabels": {}, "timestamp": %q, "value": "%d"}]}`, metric, time.Now().UTC().Format(time.RFC3339), value))
	}
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	// The API server reaches the test by the name of an external service.
	adapter := fmt.Sprintf(`{apiVersion: v1, kind: Service, metadata: {name: adapter}, spec: {type: ExternalName, externalName: localhost, ports: [{port: %[1]s}]}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1beta1.external.metrics.k8s.io}, spec: {
  group: external.metrics.k8s.io, version: v1beta1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true,
  service: {name: adapter, namespace: %[2]s, port: %[1]s}}}`, address.Port(), ns)
	if err := p.ApplyIn(t.Context(), ns, adapter); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Without its server, the group would stop the deletion of namespaces.
		ctx, cancel := context.WithTimeout(context.Background(), waittest.Limit(10*time.Second))
		defer cancel()
		if err := p.Delete(ctx, ns, adapter); err != nil {
			t.Errorf("cannot delete the API of the metric: %v", err)
		}
	})
}
