package claim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

const secretWord = "secret-word"

// TestSecretsAreRefused sets secrets in attributes that plans and the state hold.
func TestSecretsAreRefused(t *testing.T) {
	p := offline(t)
	ingress := func(backend map[string]any) map[string]any {
		return map[string]any{"name": "a", "backend": backend}
	}
	for name, c := range map[string]struct {
		config map[string]any
		want   []string
	}{
		"HashSecret": {ingress(map[string]any{"hash_secret": secretWord}), []string{"hash_secret", "hash_secret_ref"}},
		"Password":   {ingress(map[string]any{"nats": map[string]any{"url": "nats://user:" + secretWord + "@host"}}), []string{"url", "credentials_secret"}},
		"Token":      {ingress(map[string]any{"nats": map[string]any{"url": "nats://" + secretWord + "@host"}}), []string{"url", "credentials_secret"}},
		"Argument":   {ingress(map[string]any{"extra_args": []any{"--nats=nats://user:" + secretWord + "@host"}}), []string{"extra_args", "Secret"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := p.Resource("koldun_ingress").Validate(c.config)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("got %q, want %q in it", got, want)
				}
			}
			if strings.Contains(got, secretWord) {
				t.Error("the message repeats the secret")
			}
		})
	}
	if e := p.Resource("koldun_ingress").Validate(ingress(map[string]any{"hash_secret_ref": map[string]any{"name": "s", "key": "k"}})); e != "" {
		t.Errorf("a reference to a Secret is refused: %s", e)
	}
}

// TestSecretsOfOthersStayOutOfTheState refreshes, imports and reads an object
// into which another program has written secrets.
func TestSecretsOfOthersStayOutOfTheState(t *testing.T) {
	w := start(t)
	config := map[string]any{"name": "theirs", "backend": map[string]any{"nats": map[string]any{"url": "nats://host"}}, "wait": map[string]any{"until": "none"}}
	r := w.Resource("koldun_ingress")
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	theirs := fmt.Sprintf(`{apiVersion: koldun.gorizond.io/v1, kind: Ingress, metadata: {name: theirs}, spec: {backend: {hashSecret: %s, nats: {url: "nats://user:%[1]s@host"}}}}`, secretWord)
	if err := w.cluster.ApplyIn(t.Context(), w.namespace, theirs); err != nil {
		t.Fatal(err)
	}
	r.Refresh()
	imported := w.Import("koldun_ingress", w.namespace+"/theirs")
	data, e := w.Data("koldun_ingress", map[string]any{"name": "theirs"})
	if e != "" {
		t.Fatal(e)
	}
	const redacted = "nats://xxxxx@host"
	for name, got := range map[string]any{"Refresh": providertest.JSON(r.State), "Import": providertest.JSON(imported.State), "Data": data} {
		text := fmt.Sprint(got)
		if strings.Contains(text, secretWord) {
			t.Errorf("%s: the state holds the secret: %s", name, text)
		}
		if name != "Import" && !strings.Contains(text, redacted) {
			t.Errorf("%s: the state lacks %q: %s", name, redacted, text)
		}
	}
	if p := r.Plan(config); p.Empty || strings.Contains(fmt.Sprint(providertest.JSON(p.State)), secretWord) {
		t.Errorf("plan after the change of another manager: got %v", providertest.JSON(p.State))
	}
}
