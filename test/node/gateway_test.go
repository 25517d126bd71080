package node_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// A gateway is the Service of a claim's gateways, for clients that ask while pods come and go.
type gateway struct {
	client *http.Client
	fresh  *http.Client // with a new connection for each request
	url    string       // without /v1
}

// gateway returns a Service of gateways. Clients outside of the cluster's network reach it
// through the API server, which finds another pod for each request: a forwarded port leads to
// one pod.
func (s *services) gateway(t *testing.T, namespace, service string) gateway {
	t.Helper()
	if s.node != nil {
		fresh := &http.Transport{DisableKeepAlives: true}
		return gateway{http.DefaultClient, &http.Client{Transport: fresh}, strings.TrimSuffix(s.url(t, namespace, service), "/v1")}
	}
	client, err := rest.HTTPClientFor(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	port := s.Kubectl(t, "get", "service", service, "--namespace", namespace, "--output=jsonpath={.spec.ports[0].port}")
	return gateway{client, client, fmt.Sprintf("%s/api/v1/namespaces/%s/services/%s:%s/proxy", s.Config().Host, namespace, service, port)}
}

// list lists the models.
func (g gateway) list(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.url+"/v1/models", nil)
	if err != nil {
		return err
	}
	rsp, err := g.fresh.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = rsp.Body.Close() }()
	text, err := io.ReadAll(rsp.Body)
	if err == nil && rsp.StatusCode != http.StatusOK {
		err = fmt.Errorf("the status is %s: %s", rsp.Status, text)
	}
	return err
}
