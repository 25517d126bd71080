package node_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/ask"
	"github.com/gorizond/koldun/test/cluster"
)

// TestIngress tests the route of a claim from outside of the cluster: an ingress controller
// serves its host and path by HTTPS with the certificate that the claim names, and streams
// answers.
func TestIngress(t *testing.T) {
	w := koldun(t)
	if w.node == nil {
		t.Skip("it reaches the controller by its address in the cluster; run: make e2e")
	}
	tell("A route: an ingress controller serves a claim's host and path by HTTPS.")
	const claim, host, model = "testdata/route.yaml", "llm.example.org", "default/routed"
	raw, err := os.ReadFile("testdata/controller.yaml")
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, authority, err := cluster.Certificate(host)
	if err != nil {
		t.Fatal(err)
	}
	secret := fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/tls","metadata":{"namespace":"default","name":"llm-tls"},"stringData":{"tls.crt":%q,"tls.key":%q}}`, certificate, key)
	if err := w.Apply(t.Context(), strings.ReplaceAll(string(raw), "REGISTRY", w.registry), secret); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			w.output.logs(t)
		}
	})
	w.pods.ready(t, "ingress", "app=skipper", 1)
	tell("The ingress controller Skipper runs; kubectl apply -f %s", claim)
	w.Kubectl(t, "apply", "-f", claim)
	w.claims.ready(t, "default", "routed")
	w.output.lines(t, "get", "ingresses.networking.k8s.io")
	url := w.Kubectl(t, "get", "dllama/routed", "--output=jsonpath={.status.url}")
	if want := "https://" + host + "/models-of-a-team/v1"; url != want {
		t.Errorf("status.url is %q, want %q", url, want)
	}
	controller := net.JoinHostPort(w.Kubectl(t, "get", "service/skipper", "--namespace=ingress", "--output=jsonpath={.spec.clusterIP}"), "443")
	outside := ask.New(clientOf(controller, authority), url, "")
	cluster.Eventually(t, "the controller to see the route", func(ctx context.Context) error {
		return lists(ctx, outside, model)
	})
	for range 20 {
		streams(t, outside, model)
	}
	tell("%s answers OpenAI's client through it, first token after %s", url, streams(t, outside, model).Round(time.Millisecond))
	w.Kubectl(t, "delete", "secret/llm-tls")
	w.claims.deleted(t, claim)
}

// logs tells which side of the controller ended an answer.
func (o *output) logs(t *testing.T) {
	for _, args := range [][]string{
		{"get", "pods", "--all-namespaces", "--output=wide"},
		{"logs", "--namespace=ingress", "--selector=app=skipper", "--tail=20"},
		{"logs", "--namespace=default", "--selector=koldun.gorizond.io/component in (gateway, dispatcher, root)", "--all-containers", "--prefix", "--tail=20"},
	} {
		out, err := o.RunKubectl(context.WithoutCancel(t.Context()), args...)
		tell("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// clientOf returns a client that connects to one address, whatever the host, and trusts one
// authority.
func clientOf(address string, authority []byte) *http.Client {
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}}
}
