package e2e_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/test/cluster"
)

// refused tests that the API server refuses invalid claims with the reason.
func (p *suite) refused(t *testing.T) {
	for name, c := range map[string]struct{ kind, spec, field string }{
		"NodesTwice":      {"Dllama", "{modelRef: {name: m}, nodes: 2, replicaPower: 1}", "spec.nodes"},
		"ModelTwice":      {"Dllama", "{modelRef: {name: m}, model: {sourceUrl: 'hf://a/b'}}", "spec"},
		"NoSuchDelivery":  {"Dllama", "{modelRef: {name: m}, delivery: pigeon}", "spec.delivery"},
		"NodesNegative":   {"Dllama", "{modelRef: {name: m}, nodes: -1}", "spec.nodes"},
		"NumberIsText":    {"Dllama", "{modelRef: {name: m}, nodes: many}", "spec.nodes"},
		"Unknown":         {"Dllama", "{modleRef: {name: m}}", "spec.modleRef"},
		"PortTooLarge":    {"Ingress", "{service: {port: 70000}}", "spec.service.port"},
		"PathRelative":    {"Ingress", "{route: {host: a.example.org, path: v1}}", "spec.route.path"},
		"SecretTwice":     {"Ingress", "{backend: {hashSecret: a, hashSecretRef: {name: a, key: b}}}", "spec.backend.hashSecret"},
		"NoSuchIsolation": {"Ingress", "{backend: {isolation: mood}}", "spec.backend.isolation"},
		"NamespaceAsArg":  {"Ingress", "{backend: {extraArgs: ['--strict-parameters', '--namespace=victim']}}", "spec.backend.extraArgs"},
		"NamespacesAsArg": {"Ingress", "{backend: {extraArgs: ['--namespaces', 'victim']}}", "spec.backend.extraArgs"},
		"NoSuchWeights":   {"Model", "{sourceUrl: 'hf://a/b', conversion: {weightsFloatType: q2}}", "spec.conversion.weightsFloatType"},
		"SessionOfNone":   {"Session", "{}", "spec.modelRef"},
		"RootOfNothing":   {"Root", "{workers: nine}", "spec.workers"},
		"WorkersNegative": {"Worker", "{replicas: -1}", "spec.replicas"},
	} {
		t.Run(name, func(t *testing.T) {
			err := p.Apply(t.Context(), fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: wrong}, spec: %s}", api, c.kind, c.spec))
			if err == nil {
				t.Fatal("the claim is accepted")
			}
			if !strings.Contains(err.Error(), c.field) {
				t.Errorf("the message does not name %s: %v", c.field, err)
			}
		})
	}
}

// seeds tests that the API server accepts the claims in functions/router/testdata,
// and that they compose.
func (p *suite) seeds(t *testing.T) {
	ctx := t.Context()
	if err := p.Apply(ctx, "{apiVersion: v1, kind: Namespace, metadata: {name: koldun}}"); err != nil {
		t.Fatal(err)
	}
	for _, file := range list(t, repository+"/functions/router/testdata/seeds/*.yaml") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			seed := read(t, file)
			if err := p.Apply(ctx, seed); err != nil {
				t.Fatal(err)
			}
			objects, err := cluster.Decode(seed)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				namespace := o.GetNamespace()
				if namespace == "" {
					namespace = "default"
				}
				cluster.Eventually(t, "the seed to be composed", p.holds(namespace, api, o.GetKind(), o.GetName(), "Synced"))
			}
			if err := p.Delete(ctx, "default", seed); err != nil {
				t.Fatal(err)
			}
		})
	}
}
