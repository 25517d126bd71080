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
	"github.com/gorizond/koldun/test/waittest"
)

// ring is the only example with an image that is not Koldun's.
const ring = "koldun-ring"

// TestEmbedded tests the quickstart: one claim, and a streamed answer through the Service.
func TestEmbedded(t *testing.T) {
	w := koldun(t)
	tell("The quickstart: one claim, and a streamed answer through the Service.")
	w.claims.serves(t, "quickstart/dllama.yaml", "koldun-tiny", "1 node")
	tell("Without a claim the pods use:")
	w.usage.tell(t)
}

// TestRing tests that a root and three workers of distributed-llama answer.
func TestRing(t *testing.T) {
	w := koldun(t)
	tell("A ring: a root and three workers of distributed-llama answer.")
	w.claims.serves(t, "quickstart/ring.yaml", ring, "4 nodes")
}

// serves applies an example with one Dllama of so many nodes, waits for an answer, and deletes
// it.
func (cl *claims) serves(t *testing.T, example, name, nodes string) {
	t.Helper()
	began := time.Now()
	claim := filepath.Join(repository, "examples", example)
	tell("kubectl apply -f examples/%s", example)
	cl.Kubectl(t, "apply", "-f", claim)
	if cl.node == nil && name == ring {
		image := cl.registry + "/" + path(distributedllama.Image)
		cl.Kubectl(t, "patch", "dllama", name, "--type=merge", "--patch", fmt.Sprintf(`{"spec":{"rootImage":%q,"workerImage":%q}}`, image, image))
	}
	cl.ready(t, "default", name)
	tell("%s is served after %s", name, time.Since(began).Round(time.Second))
	cl.services.mustAnswer(t, "default", name+"-gateway", "default/"+name, "")
	cl.output.lines(t, "get", "dllamas,models,pods", "--show-kind")
	cl.describes(t, name, nodes)
	cl.deleted(t, claim)
}

// mustAnswer asks a model through a Service.
func (s *services) mustAnswer(t *testing.T, namespace, service, model, token string) {
	t.Helper()
	first := streams(t, asks(s.url(t, namespace, service), token), model)
	tell("%s answers OpenAI's client by a stream, first token after %s: %s", model, first.Round(time.Millisecond), answer)
}

// ready waits until a Dllama is served.
func (cl *claims) ready(t *testing.T, namespace, name string) {
	t.Helper()
	cl.holds(t, namespace, "dllama/"+name, "Serving")
	cl.holds(t, namespace, "dllama/"+name, "Ready")
}

// holds waits until a condition of an object is true. A failed test prints the object and its
// pods.
func (cl *claims) holds(t *testing.T, namespace, object, condition string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit(5*time.Minute))
	defer cancel()
	err := cluster.Poll(ctx, func(ctx context.Context) error {
		_, err := cl.RunKubectl(ctx, "wait", "--namespace", namespace, "--timeout=5s", "--for=condition="+condition, object)
		return err
	})
	if err == nil {
		return
	}
	t.Error(err)
	cl.describe(t, namespace, object)
	t.FailNow()
}

// describe prints an object, what belongs to it and its pods, and what Crossplane and the
// provider log, for a test that fails.
func (cl *claims) describe(t *testing.T, namespace, object string) {
	t.Helper()
	const recent = "--tail=100"
	for _, args := range [][]string{
		{"describe", object, "--namespace", namespace},
		{"get", "koldun,managed,pods", "--output=wide", "--show-kind", "--namespace", namespace},
		{"describe", "pods", "--namespace", namespace},
		{"logs", "--selector=app.kubernetes.io/name=koldun", "--all-containers", "--prefix", "--tail=30", "--namespace", namespace},
		{"get", "events", "--sort-by=.lastTimestamp", "--namespace", namespace},
		{"get", "pods", "--output=wide", "--namespace=crossplane-system"},
		{"logs", "--namespace=crossplane-system", "--selector=app=crossplane", recent},
		{"logs", "--namespace=crossplane-system", "--selector=pkg.crossplane.io/provider=gorizond-koldun-provider", recent},
		{"get", "koldun", "--output=yaml", "--namespace", namespace},
	} {
		out, err := cl.RunKubectl(context.WithoutCancel(t.Context()), args...)
		t.Logf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// deleted deletes what a file describes, and waits until nothing of Koldun is left in the
// namespace default.
func (cl *claims) deleted(t *testing.T, file string) {
	t.Helper()
	cl.Kubectl(t, "delete", "-f", file, "--wait=false")
	cl.leftovers.none(t, "default")
}

// url returns the URL of the API of a gateway's Service.
func (s *services) url(t *testing.T, namespace, service string) string {
	t.Helper()
	if s.node == nil {
		return fmt.Sprintf("http://127.0.0.1:%d/v1", s.tunnel(t, namespace, service))
	}
	out := s.Kubectl(t, "get", "service", service, "--namespace", namespace, "--output=jsonpath={.spec.clusterIP}:{.spec.ports[0].port}")
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
