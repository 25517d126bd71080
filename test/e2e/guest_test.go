package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/functions/grant"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/cluster"
)

// owner is a claim that requires API tokens, of a Model that another namespace may use.
const owner = tiny + `    allowedNamespaces: [GUEST]
  expose: {}
`

// guest is a claim that asks the owner's gateway.
const guest = `
apiVersion: koldun.gorizond.io/v1
kind: Dllama
metadata: {name: koldun-tiny}
spec:
  modelRef: {name: koldun-tiny, namespace: OWNER}
  ingressRef: {name: koldun-tiny}
  expose: {allowAnonymous: true}
`

// forged is a Token like the one that the claim of a guest composes.
const forged = `
apiVersion: koldun.m.gorizond.io/v1alpha1
kind: Token
metadata: {name: forged, labels: {LABEL: VALUE}}
spec:
  writeConnectionSecretToRef: {name: forged}
  forProvider: {prefix: granted/, models: [OWNER/koldun-tiny]}
`

// TestModelOfAnotherNamespace serves a model under a claim of another namespace, as
// examples/claims/other-namespace.yaml does, until its owner withdraws the grant. A third
// namespace gets nothing.
func TestModelOfAnotherNamespace(t *testing.T) {
	t.Parallel()
	p := installed(t, "Namespaced")
	p.watch(t)
	p.processes.start(t)
	ctx := t.Context()
	here, there, elsewhere := p.Namespace(t), p.Namespace(t), p.Namespace(t)
	granted := strings.ReplaceAll(owner, "GUEST", there)
	if err := p.ApplyIn(ctx, here, granted); err != nil {
		t.Fatal(err)
	}
	asking := strings.ReplaceAll(guest, "OWNER", here)
	fake := strings.ReplaceAll(forged, "OWNER", here)
	for label, value := range grant.Labels(here, "koldun-tiny") {
		fake = strings.NewReplacer("LABEL", label, "VALUE", value).Replace(fake)
	}
	for ns, manifests := range map[string]string{there: asking, elsewhere: asking + "---" + fake} {
		if err := p.ApplyIn(ctx, ns, manifests); err != nil {
			t.Fatal(err)
		}
	}
	cluster.Eventually(t, "the claim to be ready", p.holds(here, api, "Dllama", "koldun-tiny", "Ready"))
	cluster.Eventually(t, "the claim of the other namespace to be ready", p.holds(there, api, "Dllama", "koldun-tiny", "Ready"))
	ownerURL, guestURL := p.claimURL(t, here, "koldun-tiny"), p.claimURL(t, there, "koldun-tiny")
	if err := ask(ctx, p.processes.node.HTTP(), guestURL, nil); err != nil {
		t.Fatal(err)
	}
	borrowed, stolen := p.issued(t, there, names.Object("koldun-tiny", "dllama", "token", names.Hash(8, here, "koldun-tiny"))), p.issued(t, elsewhere, "forged")
	for name, c := range map[string]struct {
		token string
		want  int
	}{"WithoutToken": {"", http.StatusUnauthorized}, "Stranger": {stolen, http.StatusUnauthorized}, "Guest": {borrowed, http.StatusOK}} {
		if got := p.processes.statusFor(t, ownerURL, c.token); got != c.want {
			t.Errorf("%s: the owner's gateway answers %d, want %d", name, got, c.want)
		}
	}
	cluster.Eventually(t, "the claim of the third namespace to be refused", p.withoutGrant(elsewhere))

	if err := p.ApplyIn(ctx, here, strings.ReplaceAll(owner, "[GUEST]", "[other]")); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the guest's token to be refused", func(context.Context) error {
		if got := p.processes.statusFor(t, ownerURL, borrowed); got != http.StatusUnauthorized {
			return fmt.Errorf("the owner's gateway answers %d", got)
		}
		return nil
	})
	cluster.Eventually(t, "the guest's claim to be refused", p.withoutGrant(there))
	within, cancel := context.WithTimeout(ctx, 5*time.Second) // a request waits for an engine
	defer cancel()
	if ask(within, p.processes.node.HTTP(), guestURL, nil) == nil {
		t.Error("the guest's gateway still answers")
	}
	for ns, manifests := range map[string]string{elsewhere: asking + "---" + fake, there: asking, here: granted} {
		if err := p.Delete(ctx, ns, manifests); err != nil {
			t.Fatal(err)
		}
		cluster.Eventually(t, "nothing to be left of the claim", p.nothingLeftIn(ns))
	}
}

// withoutGrant checks that the claim of a namespace has no right to its Model.
func (ob *objects) withoutGrant(namespace string) func(context.Context) error {
	return func(ctx context.Context) error {
		claim, err := ob.get(ctx, namespace, api, "Dllama", "koldun-tiny")
		if err != nil {
			return err
		}
		if c := conditionOf(claim, "Serving"); c["status"] != "False" || c["reason"] != "ModelNotFound" {
			return fmt.Errorf("the condition is %v", c)
		}
		return nil
	}
}

// issued returns the token in a Secret.
func (ob *objects) issued(t *testing.T, namespace, name string) (token string) {
	t.Helper()
	cluster.Eventually(t, "the token", func(ctx context.Context) error {
		var s corev1.Secret
		if err := ob.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &s); err != nil {
			return err
		}
		if token = string(s.Data["token"]); token == "" {
			return errors.New("it is empty")
		}
		return nil
	})
	return token
}

// statusFor asks a gateway with a token, and returns the status of the answer.
func (r *processes) statusFor(t *testing.T, url, token string) int {
	t.Helper()
	req, err := newRequest(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	rsp, err := r.node.HTTP().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = rsp.Body.Close()
	return rsp.StatusCode
}
