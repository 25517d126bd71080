package node_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/distributedllama"
	"github.com/gorizond/koldun/test/cluster"
)

const (
	ring     = "koldun-ring" // the only example with an image that is not Koldun's
	question = "What is Koldun?"
	answer   = "Koldun turns a short YAML claim into a running, OpenAI-compatible language model service on distributed-llama."
)

// TestEmbedded tests the quickstart: one claim, and a streamed answer through the Service.
func TestEmbedded(t *testing.T) {
	koldun(t).serves(t, "quickstart/dllama.yaml", "koldun-tiny")
}

// TestRing tests that a root and three workers of distributed-llama answer.
func TestRing(t *testing.T) {
	koldun(t).serves(t, "quickstart/ring.yaml", ring)
}

// serves applies an example with one Dllama, waits for an answer, and deletes it.
func (w *world) serves(t *testing.T, example, name string) {
	t.Helper()
	began := time.Now()
	claim := filepath.Join(repository, "examples", example)
	tell("kubectl apply -f examples/%s", example)
	w.Kubectl(t, "apply", "-f", claim)
	if w.node == nil && name == ring {
		image := w.registry + "/" + path(distributedllama.Image)
		w.Kubectl(t, "patch", "dllama", name, "--type=merge", "--patch", fmt.Sprintf(`{"spec":{"rootImage":%q,"workerImage":%q}}`, image, image))
	}
	w.ready(t, "default", name)
	tell("%s is served after %s", name, time.Since(began).Round(time.Second))
	w.mustAnswer(t, "default", name+"-gateway", "default/"+name, "")
	w.tellLines(t, "get", "dllamas,models,pods", "--show-kind")
	w.tellUsage(t)
	w.deleted(t, claim)
}

// mustAnswer asks a model through a Service.
func (w *world) mustAnswer(t *testing.T, namespace, service, model, token string) {
	t.Helper()
	first, text, err := ask(t.Context(), w.serviceURL(t, namespace, service), model, token)
	if err != nil || text != answer {
		t.Fatalf("the answer of %s is %q: %v", model, text, err)
	}
	tell("%s answers, first token after %s: %s", model, first.Round(time.Millisecond), text)
}

// ready waits until a Dllama is served.
func (w *world) ready(t *testing.T, namespace, name string) {
	t.Helper()
	w.holds(t, namespace, "dllama/"+name, "Serving")
	w.holds(t, namespace, "dllama/"+name, "Ready")
}

// holds waits until a condition of an object is true. A failed test prints the object and its
// pods.
func (w *world) holds(t *testing.T, namespace, object, condition string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	err := cluster.Poll(ctx, func(ctx context.Context) error {
		_, err := w.RunKubectl(ctx, "wait", "--namespace", namespace, "--timeout=5s", "--for=condition="+condition, object)
		return err
	})
	if err == nil {
		return
	}
	t.Error(err)
	w.describe(t, namespace, object)
	t.FailNow()
}

// describe prints an object and the pods of its namespace, for a test that fails.
func (w *world) describe(t *testing.T, namespace, object string) {
	t.Helper()
	for _, args := range [][]string{{"describe", object}, {"get", "pods", "--output=wide"}, {"describe", "pods"}} {
		out, err := w.RunKubectl(context.WithoutCancel(t.Context()), append(args, "--namespace", namespace)...)
		t.Log(out, err)
	}
}

// deleted deletes what a file describes, and waits until nothing of Koldun is left in the
// namespace default.
func (w *world) deleted(t *testing.T, file string) {
	t.Helper()
	w.Kubectl(t, "delete", "-f", file, "--wait=false")
	w.nothingLeft(t, "default")
}

// nothingLeft waits until nothing of Koldun is left in a namespace.
func (w *world) nothingLeft(t *testing.T, namespace string) {
	t.Helper()
	began := time.Now()
	cluster.Eventually(t, "nothing to be left", func(ctx context.Context) error {
		left, err := w.RunKubectl(ctx, "get", "koldun,pods,statefulsets,deployments,jobs,services,networkpolicies,configmaps,secrets", "--namespace", namespace, "--output=name")
		if err != nil {
			return err
		}
		for _, name := range strings.Fields(left) {
			if name != "service/kubernetes" && name != "configmap/kube-root-ca.crt" && !strings.HasPrefix(name, "clusterproviderconfig.") {
				return fmt.Errorf("%s is left", name)
			}
		}
		return nil
	})
	tell("nothing is left in namespace %s after %s", namespace, time.Since(began).Round(time.Second))
}

// serviceURL returns the URL of the API of a gateway's Service.
func (w *world) serviceURL(t *testing.T, namespace, service string) string {
	t.Helper()
	if w.node == nil {
		return fmt.Sprintf("http://127.0.0.1:%d/v1", w.tunnel(t, namespace, service))
	}
	out := w.Kubectl(t, "get", "service", service, "--namespace", namespace, "--output=jsonpath={.spec.clusterIP}:{.spec.ports[0].port}")
	return "http://" + out + "/v1"
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
