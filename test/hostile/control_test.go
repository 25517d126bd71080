package hostile_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/history"
)

// TestAttacksOnTheControlPlane lets the author of claims and managed resources of one
// namespace attack another one, whose requests go on meanwhile. Each attack is refused
// with its reason, and all that the victim has is as it was.
func TestAttacksOnTheControlPlane(t *testing.T) {
	w := newWorld(t)
	v := newTarget(t, w)
	w.hub.Break(hubtest.Rule{Do: hubtest.Redirect(http.StatusFound, "http://169.254.169.254/latest/meta-data")})
	before := v.state()
	stop := v.load()
	t.Run("Managed", func(t *testing.T) {
		for _, name := range slices.Sorted(maps.Keys(managedAttacks())) {
			t.Run(name, func(t *testing.T) { w.tryManaged(t, managedAttacks()[name]) })
		}
	})
	t.Run("Store", v.attackStore)
	t.Run("Claims", func(t *testing.T) {
		for name, a := range claimAttacks() {
			t.Run(name, func(t *testing.T) { w.tryClaim(t, a) })
		}
	})
	t.Run("Gateway", func(t *testing.T) {
		foreign := history.NewTenant(foe)
		queue := unstructuredOf(t, queueOf(foe, "queue", tenants))
		if err := w.attack(t.Context(), queue); err != nil {
			t.Fatal(err)
		}
		token := decode(t, v.token(foreign))[0]
		if err := w.attack(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		cluster.Eventually(t, "the token of the other namespace", w.condition(foe, token, "Ready", "True", ""))
		for name, a := range v.httpAttacks(foreign.Token) {
			t.Run(name, func(t *testing.T) { v.tryHTTP(t, a) })
		}
		w.withdraw(t, token)
		w.withdraw(t, queue)
	})
	stop()
	if after := v.state(); after != before {
		t.Errorf("what the victim has was\n%s\nand is\n%s", before, after)
	}
}

// tryManaged applies the resources of an attack, and deletes them.
func (w *world) tryManaged(t *testing.T, a managedAttack) {
	t.Helper()
	objects := decode(t, a.manifest)
	for _, o := range objects {
		if o.GetName() == "evil" {
			o.SetName("evil-" + strings.ToLower(t.Name()[strings.LastIndex(t.Name(), "/")+1:]))
		}
		if via, _, _ := unstructured.NestedString(o.Object, "spec", "providerConfigRef", "name"); via == "evil" {
			_ = unstructured.SetNestedField(o.Object, objects[0].GetName(), "spec", "providerConfigRef", "name")
		}
		err := w.attack(t.Context(), o)
		if a.refused != "" {
			if err == nil || !strings.Contains(err.Error(), a.refused) {
				t.Errorf("the API server says %v, want %q", err, a.refused)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	last := objects[len(objects)-1]
	cluster.Eventually(t, "the refusal", w.condition(foe, last, "", "", a.says))
	for _, o := range slices.Backward(objects) {
		w.withdraw(t, o)
	}
}

// withdraw deletes an object of the attacker, and waits until it is gone.
func (w *world) withdraw(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	if err := w.foe.Delete(t.Context(), o); err != nil {
		t.Error(err)
		return
	}
	cluster.Eventually(t, o.GetKind()+" to be gone", w.gone(o))
}

// tryClaim applies a claim, and composes it.
func (w *world) tryClaim(t *testing.T, a claimAttack) {
	t.Helper()
	o := decode(t, "{apiVersion: koldun.gorizond.io/v1, kind: "+a.kind+", metadata: {name: evil-"+strings.ToLower(t.Name()[strings.LastIndex(t.Name(), "/")+1:])+"}, spec: "+a.spec+"}")[0]
	err := w.attack(t.Context(), o)
	if a.refused != "" {
		if err == nil || !strings.Contains(err.Error(), a.refused) {
			t.Errorf("the API server says %v, want %q", err, a.refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	said, err := w.composed(t.Context(), o)
	if err != nil || !strings.Contains(said, a.says) {
		t.Errorf("the function says %q (%v), want %q", said, err, a.says)
	}
	w.withdraw(t, o)
}

// tryHTTP sends the request of an attack.
func (v *target) tryHTTP(t *testing.T, a httpAttack) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), a.method, v.url+a.path, bytes.NewReader([]byte(a.body)))
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(req.Header, a.header)
	req.Host = a.header.Get("Host")
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var said openai.Error
	if a.code != "" {
		_ = json.Unmarshal(text, &said)
	}
	if resp.StatusCode != a.status || said.Code != a.code {
		t.Errorf("the gateway answers %d %q (%s), want %d %q", resp.StatusCode, said.Code, text, a.status, a.code)
	}
}
