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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
)

// lender is a claim that requires API tokens, with a Token for another namespace.
const lender = tiny + `  expose: {}
---
apiVersion: koldun.m.gorizond.io/v1alpha1
kind: Token
metadata: {name: guest}
spec:
  writeConnectionSecretToRef: {name: guest}
  forProvider: {models: [NAMESPACE/koldun-tiny]}
`

// guest is a claim that asks the lender's gateway.
const guest = `
apiVersion: koldun.gorizond.io/v1
kind: Dllama
metadata: {name: koldun-tiny}
spec:
  engine:
    type: openai
    server:
      url: URL
      model: LENDER/koldun-tiny
      apiKeySecretRef: {name: lent, key: token}
      slots: 2
  expose: {allowAnonymous: true}
`

// TestModelOfAnotherNamespace serves a model under a claim of another namespace, as
// examples/claims/other-namespace.yaml does, until its owner withdraws the token.
func TestModelOfAnotherNamespace(t *testing.T) {
	p := installed(t, "Namespaced")
	p.watch(t)
	p.run(t)
	ctx := t.Context()
	here, there := p.Namespace(t), p.Namespace(t)
	lent := strings.ReplaceAll(lender, "NAMESPACE", here)
	if err := p.ApplyIn(ctx, here, lent); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the claim to be ready", p.holds(here, api, "Dllama", "koldun-tiny", "Ready"))
	url := p.claimURL(t, here, "koldun-tiny")
	if err := ask(ctx, p.node.HTTP(), url, nil); err == nil || !strings.Contains(err.Error(), http.StatusText(http.StatusUnauthorized)) {
		t.Errorf("without a token the answer is %v, want 401", err)
	}
	p.handOver(t, client.ObjectKey{Namespace: here, Name: "guest"}, client.ObjectKey{Namespace: there, Name: "lent"})
	borrowed := strings.NewReplacer("URL", url, "LENDER", here).Replace(guest)
	if err := p.ApplyIn(ctx, there, borrowed); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the claim of the other namespace to be ready", p.holds(there, api, "Dllama", "koldun-tiny", "Ready"))
	mine := p.claimURL(t, there, "koldun-tiny")
	if err := ask(ctx, p.node.HTTP(), mine, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.Delete(ctx, here, lent[strings.Index(lent, "---")+len("---"):]); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the other claim to serve no more", func(ctx context.Context) error {
		within, cancel := context.WithTimeout(ctx, 5*time.Second) // a request waits for an engine
		defer cancel()
		if ask(within, p.node.HTTP(), mine, nil) == nil {
			return errors.New("it still answers")
		}
		claim, err := p.get(ctx, there, api, "Dllama", "koldun-tiny")
		if err != nil {
			return err
		}
		if c := conditionOf(claim, "Serving"); c["status"] != "False" {
			return fmt.Errorf("the condition is %v", c)
		}
		return nil
	})
	if err := p.Client().Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: there, Name: "lent"}}); err != nil {
		t.Fatal(err)
	}
	for ns, claim := range map[string]string{there: borrowed, here: lent} {
		if err := p.Delete(ctx, ns, claim); err != nil {
			t.Fatal(err)
		}
		cluster.Eventually(t, "nothing to be left of the claim", p.nothingLeftIn(ns))
	}
}

// handOver copies a token, as people do who trust each other, when it has been issued.
func (p *suite) handOver(t *testing.T, from, to client.ObjectKey) {
	t.Helper()
	cluster.Eventually(t, "the token", func(ctx context.Context) error {
		var issued corev1.Secret
		if err := p.Client().Get(ctx, from, &issued); err != nil {
			return err
		}
		token := issued.Data["token"]
		if len(token) == 0 {
			return fmt.Errorf("Secret %q has no token", from)
		}
		copied := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: to.Namespace, Name: to.Name}, Data: map[string][]byte{"token": token}}
		return p.Client().Create(ctx, copied)
	})
}
