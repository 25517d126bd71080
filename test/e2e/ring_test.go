package e2e_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/distributedllama"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/cluster"
)

const (
	// bins names the folder of distributed-llama's programs.
	bins = "DLLAMA_BIN"
	// firstIngress is an Ingress of the first Koldun. It names Koldun's own image
	// for everything, and four nodes.
	firstIngress = repository + "/functions/router/testdata/seeds/public-backend.yaml"
	firstNATS    = "nats://koldun:k0ldun@nats.default:4222"
	ringToken    = "sk-ring-of-the-test"
	// firstModel is a Model of the first Koldun with an object store of its own.
	firstModel = repository + "/functions/router/testdata/seeds/tinyllama.yaml"
	storeKeys  = `
apiVersion: v1
kind: Secret
metadata: {name: minio-creds}
stringData: {AWS_ACCESS_KEY_ID: %s, AWS_SECRET_ACCESS_KEY: %s}
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

// ring tests a Model and an Ingress of the first Koldun with real distributed-llama. With
// the addresses of the test's servers and the name of its model they serve with a root and three workers, and again after each of them was killed.
func (p *suite) ring(t *testing.T) {
	if os.Getenv(bins) == "" {
		t.Skip("run it with: make engine cluster-binaries && " + bins + "=$PWD/bin/distributed-llama go test -run TestServing/Namespaced/Ring ./test/e2e")
	}
	s := &serving{suite: p, ns: p.Namespace(t)}
	login := natstest.Start(t) // the first Koldun has one for all namespaces
	ingress := edited(t, firstIngress, map[string]string{
		"  namespace: default\n": "",
		firstNATS:                strings.Replace(login.URL(), "://", "://"+natstest.User+":"+natstest.Password+"@", 1),
	})
	store := p.processes.services.s3.Config()
	model := edited(t, firstModel, map[string]string{
		"  namespace: koldun\n":              "",
		"name: tinyllama\n":                  "name: koldun-tiny\n",
		"TinyLlama/TinyLlama-1.1B-Chat-v1.0": "gorizond/koldun-tiny",
		"http://koldun-minio:9000":           store.Endpoint,
	})
	keys := fmt.Sprintf(storeKeys, store.AccessKey, store.SecretKey)
	if err := p.ApplyIn(t.Context(), s.ns, keys, model, ingress); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the Model to be ready", p.holds(s.ns, api, "Model", "koldun-tiny", "Ready"))
	// The host of its route is that of an ingress controller, which there is none of.
	cluster.Eventually(t, "the Service", func(ctx context.Context) error {
		public, err := p.get(ctx, s.ns, api, "Ingress", "public-backend")
		if err != nil {
			return err
		}
		service, _, _ := unstructured.NestedString(public.Object, "status", "backendServiceName")
		if service == "" {
			return errors.New("the Ingress has no Service in its status")
		}
		s.url = "http://" + service + "." + s.ns + ".svc:8082/v1"
		return nil
	})
	s.admit(t, login.Connect(t))
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
	if err := p.Delete(t.Context(), s.ns, ingress, model, keys); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "nothing to be left of the claims", p.nothingLeftIn(s.ns))
}

// edited returns a manifest of the first Koldun with texts replaced. It fails the test if
// the manifest does not contain one of them.
func edited(t *testing.T, file string, changes map[string]string) string {
	t.Helper()
	text := read(t, file)
	for old, now := range changes {
		if !strings.Contains(text, old) {
			t.Fatalf("%s does not contain %q", file, old)
		}
		text = strings.ReplaceAll(text, old, now)
	}
	return text
}

// admit registers the token of the clients, as operators of the first Koldun do.
func (s *serving) admit(t *testing.T, b *bus.Bus) {
	t.Helper()
	digest := sha256.Sum256([]byte(ringToken))
	token := registry.Token{SHA256: hex.EncodeToString(digest[:]), Namespace: s.ns}
	if _, err := registry.Tokens(b).Put(t.Context(), token.Key(), token); err != nil {
		t.Fatal(err)
	}
}

// answers waits for a whole answer. A request ends with an error if the ring breaks
// after the first text.
func (s *serving) answers(t *testing.T, what string) {
	t.Helper()
	client := s.processes.node.HTTP()
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
