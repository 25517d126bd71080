package argocd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/test/ask"
	"github.com/gorizond/koldun/test/cluster"
)

const (
	question = "What is Koldun?"
	answer   = "Koldun turns a short YAML claim into a running"
)

// answers tests that the model answers a chat through the gateway of the Ingress.
func (s *story) answers() {
	s.t.Helper()
	began := time.Now()
	var text string
	cluster.Eventually(s.t, "an answer", func(ctx context.Context) error {
		url, err := s.gateway(ctx)
		if err != nil {
			return err
		}
		_, text, err = ask.New(s.setup.HTTP, url, "").Stream(ctx, "tinyllama", question)
		if err == nil && !strings.Contains(text, answer) {
			err = fmt.Errorf("the answer is %q", text)
		}
		return err
	})
	s.setup.Tell("%q is answered through the gateway after %s: %q", question, since(began), text)
}

// gateway returns the URL of the API at the Service of the Ingress. The URL in the status is
// that of a host which needs an ingress controller.
func (s *story) gateway(ctx context.Context) (string, error) {
	ingress, err := s.claim(ctx, "Ingress", "public")
	if err != nil {
		return "", err
	}
	service, _, _ := unstructured.NestedString(ingress.Object, "status", "backendServiceName")
	port, found, _ := unstructured.NestedInt64(ingress.Object, "spec", "service", "port")
	if service == "" || !found {
		return "", errors.New("the Ingress names no Service")
	}
	return fmt.Sprintf("http://%s.%s.svc.cluster.local:%d/v1", service, namespace, port), nil
}
