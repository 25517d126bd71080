package e2e_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/distributedllama"
	"github.com/gorizond/koldun/internal/registry"
	"github.com/gorizond/koldun/test/cluster"
)

const (
	// bins names the folder of distributed-llama's programs.
	bins = "DLLAMA_BIN"
	// firstIngress is an Ingress of the first Koldun. It names Koldun's own image
	// for everything, and four nodes.
	firstIngress = repository + "/functions/router/testdata/seeds/public-backend.yaml"
	firstNATS    = "nats://koldun:k0ldun@nats.default:4222"
	ringToken    = "sk-ring"
	// ringModel is the Model that the ring serves.
	ringModel = `
apiVersion: koldun.gorizond.io/v1
kind: Model
metadata: {name: koldun-tiny}
spec:
  sourceUrl: https://huggingface.co/gorizond/koldun-tiny
  conversion: {weightsFloatType: q40}
`
)

// images are the programs of the images that pods name, beside Koldun's own.
func images(koldun string) map[string]string {
	out := map[string]string{engine.Repository + ":latest": koldun}
	if dir := os.Getenv(bins); dir != "" {
		out[distributedllama.Image] = dir
	}
	return out
}

// ring tests an Ingress of the first Koldun with real distributed-llama: it serves
// with a root and three workers, and again after each of them was killed.
func (p *suite) ring(t *testing.T) {
	if os.Getenv(bins) == "" {
		t.Skip("run it with: make engine cluster-binaries && " + bins + "=$PWD/bin/distributed-llama go test -run TestServing/Namespaced/Ring ./test/e2e")
	}
	s := &serving{suite: p, ns: p.Namespace(t)}
	manifest := read(t, firstIngress)
	for old, now := range map[string]string{
		"  namespace: default\n": "",
		firstNATS:                strings.Replace(p.services.nats.URL(), "://", "://"+natstest.User+":"+natstest.Password+"@", 1),
	} {
		if !strings.Contains(manifest, old) {
			t.Fatalf("%s does not contain %q", firstIngress, old)
		}
		manifest = strings.ReplaceAll(manifest, old, now)
	}
	if err := p.ApplyIn(t.Context(), s.ns, ringModel, manifest); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the Model to be ready", p.holds(s.ns, api, "Model", "koldun-tiny", "Ready"))
	// The host of its route is that of an ingress controller, which there is none of.
	cluster.Eventually(t, "the Service", func(ctx context.Context) error {
		ingress, err := p.get(ctx, s.ns, api, "Ingress", "public-backend")
		if err != nil {
			return err
		}
		service, _, _ := unstructured.NestedString(ingress.Object, "status", "backendServiceName")
		if service == "" {
			return errors.New("the Ingress has no Service in its status")
		}
		s.url = "http://" + service + "." + s.ns + ".svc:8082/v1"
		return nil
	})
	s.admit(t)
	s.answers(t, "the first answer")
	for _, component := range []string{"worker", "root"} {
		pods := s.containers(t, component, map[string]string{"worker": "worker", "root": "engine"}[component])
		if want := map[string]int{"worker": 3, "root": 1}[component]; len(pods) != want {
			t.Fatalf("there are %d pods of the component %s, want %d", len(pods), component, want)
		}
		for _, pod := range pods {
			pod.kill()
			s.answers(t, "an answer after the end of "+pod.name)
		}
	}
	if err := p.Delete(t.Context(), s.ns, manifest, ringModel); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "nothing to be left of the claims", p.nothingLeftIn(s.ns))
}

// admit registers the token of the clients, as operators of the first Koldun do.
func (s *serving) admit(t *testing.T) {
	t.Helper()
	digest := sha256.Sum256([]byte(ringToken))
	token := registry.Token{SHA256: hex.EncodeToString(digest[:]), Namespace: s.ns}
	if _, err := registry.Tokens(s.services.bus).Put(t.Context(), token.Key(), token); err != nil {
		t.Fatal(err)
	}
}

// answers waits for a whole answer. A request ends with an error if the ring breaks
// after the first text.
func (s *serving) answers(t *testing.T, what string) {
	t.Helper()
	client := s.node.HTTP()
	client.Transport = authorized{client.Transport}
	cluster.Eventually(t, what, func(ctx context.Context) error { return ask(ctx, client, s.url, func() {}) })
}

// authorized sends requests with the token.
type authorized struct{ http.RoundTripper }

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+ringToken)
	return a.RoundTripper.RoundTrip(r)
}
