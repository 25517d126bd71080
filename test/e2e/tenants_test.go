package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/natsauth"
	"github.com/gorizond/koldun/test/cluster"
)

// tenants names the ClusterProviderConfig of NATS servers in operator mode.
const tenants = "tenants"

// ofTenants is a claim with all kinds of pods that use NATS.
const ofTenants = `
apiVersion: koldun.gorizond.io/v1
kind: Dllama
metadata: {name: koldun-tiny}
spec:
  nats: {providerConfigRef: {kind: ClusterProviderConfig, name: tenants}}
  model:
    sourceUrl: https://huggingface.co/gorizond/koldun-tiny
    conversion: {weightsFloatType: q40}
    nats: {providerConfigRef: {kind: ClusterProviderConfig, name: tenants}}
  expose: {allowAnonymous: true}
`

// besides is a claim of another namespace with an account of its own.
const besides = `
apiVersion: koldun.gorizond.io/v1
kind: Ingress
metadata: {name: curious}
spec: {backend: {nats: {providerConfigRef: {kind: ClusterProviderConfig, name: tenants}}}}
`

// TestTenants serves a model on NATS servers in operator mode, where each pod has the
// rights of its role only, and listens from another namespace.
func TestTenants(t *testing.T) {
	p := installed(t, "Namespaced")
	p.watch(t)
	p.run(t)
	ctx := t.Context()
	server := p.operate(t)
	here, there := p.Namespace(t), p.Namespace(t)
	for ns, claim := range map[string]string{here: ofTenants, there: besides} {
		if err := p.ApplyIn(ctx, ns, claim); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { t.Logf("budget:\n%s", p.budget.Report("koldun-tiny")) })
	cluster.Eventually(t, "the other Ingress to be ready", p.holds(there, api, "Ingress", "curious", "Ready"))
	heard := p.listen(t, server, there)
	cluster.Eventually(t, "the claim to be ready", p.holds(here, api, "Dllama", "koldun-tiny", "Ready"))
	if err := ask(ctx, p.node.HTTP(), p.claimURL(t, here, "koldun-tiny"), nil); err != nil {
		t.Fatal(err)
	}
	if n, _, err := heard.Pending(); n != 0 || err != nil {
		t.Errorf("the gateway of another namespace hears %d frames (%v)", n, err)
	}
	p.breakersClosed(t)
	for ns, claim := range map[string]string{here: ofTenants, there: besides} {
		if err := p.Delete(ctx, ns, claim); err != nil {
			t.Fatal(err)
		}
		cluster.Eventually(t, "nothing to be left of the claim", p.nothingLeftIn(ns))
	}
}

// operate starts a NATS server in operator mode, and describes it to the provider.
func (p *suite) operate(t *testing.T) *natstest.OperatorServer {
	t.Helper()
	server := natstest.StartOperator(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "crossplane-system", Name: tenants}, Data: server.OperatorSecret()}
	if err := p.Client().Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("apiVersion: koldun.m.gorizond.io/v1alpha1\nkind: ClusterProviderConfig\nmetadata: {name: %s}\n"+
		"spec: {allowedNamespaces: {names: ['*']}, nats: {url: '%s', operator: {secretRef: {namespace: %s, name: %s}}}}", tenants, server.URL(), secret.Namespace, tenants)
	if err := p.Apply(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.remove(t, v1alpha1.GroupVersion.WithKind(v1alpha1.KindClusterProviderConfig), tenants)
		_ = p.Client().Delete(context.WithoutCancel(t.Context()), secret)
	})
	return server
}

// listen subscribes to the frames of all answers with the credentials of the namespace's
// gateway, which may hear those of its own account.
func (p *suite) listen(t *testing.T, server *natstest.OperatorServer, namespace string) *nats.Subscription {
	t.Helper()
	var secrets corev1.SecretList
	if err := p.Client().List(t.Context(), &secrets, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	for _, s := range secrets.Items {
		for key, raw := range s.Data {
			life, ok := natsauth.LifeOf(string(raw))
			if !ok || !strings.HasPrefix(key, "gateway") {
				continue
			}
			nc, err := nats.Connect(server.URL(), nats.UserCredentialBytes(raw), nats.CustomInboxPrefix(natsauth.InboxPrefix(life.User)))
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
func (p *suite) claimURL(t *testing.T, namespace, name string) string {
	t.Helper()
	claim, err := p.get(t.Context(), namespace, api, "Dllama", name)
	if err != nil {
		t.Fatal(err)
	}
	url, _, _ := unstructured.NestedString(claim.Object, "status", "url")
	return url
}
