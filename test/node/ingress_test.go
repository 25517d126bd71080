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
	w.podsReady(t, "ingress", "app=skipper", 1)
	tell("The ingress controller Skipper runs; kubectl apply -f %s", claim)
	w.Kubectl(t, "apply", "-f", claim)
	w.ready(t, "default", "routed")
	w.tellLines(t, "get", "ingresses.networking.k8s.io")
	url := w.Kubectl(t, "get", "dllama/routed", "--output=jsonpath={.status.url}")
	if want := "https://" + host + "/models-of-a-team/v1"; url != want {
		t.Errorf("status.url is %q, want %q", url, want)
	}
	controller := net.JoinHostPort(w.Kubectl(t, "get", "service/skipper", "--namespace=ingress", "--output=jsonpath={.spec.clusterIP}"), "443")
	outside := clientOf(controller, authority)
	cluster.Eventually(t, "the controller to see the route", func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/models", nil)
		if err != nil {
			return err
		}
		rsp, err := outside.Do(req)
		if err != nil {
			return err
		}
		_ = rsp.Body.Close()
		if rsp.StatusCode != http.StatusOK {
			return fmt.Errorf("it answers %s", rsp.Status)
		}
		return nil
	})
	first, text, err := askBy(t.Context(), outside, url, model, "")
	if err != nil || text != answer {
		t.Fatalf("the answer is %q: %v", text, err)
	}
	tell("%s answers through it, first token after %s", url, first.Round(time.Millisecond))
	w.Kubectl(t, "delete", "secret/llm-tls")
	w.deleted(t, claim)
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
