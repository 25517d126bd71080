package e2e_test

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/cluster"
)

// ofTenants is a claim with all kinds of pods that use NATS.
const ofTenants = tiny + `  expose: {allowAnonymous: true}
`

// besides is a claim of another namespace with an account of its own.
const besides = `
apiVersion: koldun.gorizond.io/v1
kind: Ingress
metadata: {name: curious}
spec: {backend: {}}
`

// TestTenants serves a model on NATS servers in operator mode, where each pod has the
// rights of its role only, and listens from another namespace.
func TestTenants(t *testing.T) {
	t.Parallel()
	p := installed(t, "Namespaced")
	p.watch(t)
	p.processes.start(t)
	ctx := t.Context()
	here, there := p.Namespace(t), p.Namespace(t)
	for ns, claim := range map[string]string{here: ofTenants, there: besides} {
		if err := p.ApplyIn(ctx, ns, claim); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { t.Logf("budget:\n%s", p.budgets.counter.Report("koldun-tiny")) })
	cluster.Eventually(t, "the other Ingress to be ready", p.holds(there, api, "Ingress", "curious", "Ready"))
	heard := p.processes.listen(t, there)
	cluster.Eventually(t, "the claim to be ready", p.holds(here, api, "Dllama", "koldun-tiny", "Ready"))
	if err := ask(ctx, p.processes.node.HTTP(), p.claimURL(t, here, "koldun-tiny"), nil); err != nil {
		t.Fatal(err)
	}
	if n, _, err := heard.Pending(); n != 0 || err != nil {
		t.Errorf("the gateway of another namespace hears %d frames (%v)", n, err)
	}
	p.budgets.noneOpened(t)
	for ns, claim := range map[string]string{here: ofTenants, there: besides} {
		if err := p.Delete(ctx, ns, claim); err != nil {
			t.Fatal(err)
		}
		cluster.Eventually(t, "nothing to be left of the claim", p.nothingLeftIn(ns))
	}
}

// listen subscribes to the frames of all answers with the credentials of the namespace's
// gateway, which may hear those of its own account.
func (r *processes) listen(t *testing.T, namespace string) *nats.Subscription {
	t.Helper()
	var secrets corev1.SecretList
	if err := r.Client().List(t.Context(), &secrets, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	for _, s := range secrets.Items {
		for key, raw := range s.Data {
			life, ok := natsauth.LifeOf(string(raw))
			if !ok || !strings.HasPrefix(key, "gateway") {
				continue
			}
			nc, err := nats.Connect(r.services.nats.URL(), nats.UserCredentialBytes(raw), nats.CustomInboxPrefix(natsauth.InboxPrefix(life.User)))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(nc.Close)
			sub, err := nc.SubscribeSync(names.FramesSubject("*", "*"))
			if err == nil {
				err = nc.Flush()
			}
			if err != nil {
				t.Fatal(err)
			}
			return sub
		}
	}
	t.Fatalf("namespace %q has no credentials of a gateway", namespace)
	return nil
}

// claimURL returns where a claim serves.
func (ob *objects) claimURL(t *testing.T, namespace, name string) string {
	t.Helper()
	claim, err := ob.get(t.Context(), namespace, api, "Dllama", name)
	if err != nil {
		t.Fatal(err)
	}
	url, _, _ := unstructured.NestedString(claim.Object, "status", "url")
	return url
}
