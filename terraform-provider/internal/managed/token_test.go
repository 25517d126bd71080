package managed_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

// TestTokenIsKeptByItsHash creates a token, rotates and destroys it.
func TestTokenIsKeptByItsHash(t *testing.T) {
	const first, second = "the-first-secret-word", "the-second-secret-word"
	w := start(t, nil)
	if err := w.bus.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	valid := func(secret string) bool {
		t.Helper()
		sum := token.Digest(secret)
		_, err := registry.Tokens(w.bus).Get(t.Context(), registry.Token{SHA256: sum}.Key())
		if err != nil && !fault.Is(err, fault.NotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	config := map[string]any{"name": "ci", "secret_wo": first, "models": []any{"ns/a"}}
	r := w.Resource("koldun_token")
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(config)
	if !valid(first) || strings.Contains(text(providertest.JSON(r.State)), first) {
		t.Errorf("the token is not in the registry, or is in the state: %v", providertest.JSON(r.State))
	}
	config["secret_wo"] = second
	if p := r.Plan(config); p.Empty || len(p.Replace) > 0 || strings.Contains(text(providertest.JSON(p.State)), second) {
		t.Errorf("plan of a new secret: got %v", providertest.JSON(p.State))
	}
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(config)
	if valid(first) || !valid(second) {
		t.Error("after the rotation the old token is valid, or the new one is not")
	}
	if e := r.Destroy(); e != "" || valid(second) {
		t.Errorf("the token is valid after destroy (%s)", e)
	}
}

func TestSecretKnownAtApplyOnly(t *testing.T) {
	w := start(t, nil)
	if err := w.bus.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := w.Resource("koldun_token")
	p := r.Plan(map[string]any{"name": "late", "secret_wo": providertest.Unknown{}})
	if p.Errors != "" {
		t.Fatal(p.Errors)
	}
	if e := r.ApplyPlan(p, map[string]any{"name": "late", "secret_wo": "known-by-now-secret"}); e != "" {
		t.Fatal(e)
	}
	if r.Attribute("sha256") != token.Digest("known-by-now-secret") {
		t.Errorf("got state %v", providertest.JSON(r.State))
	}
}

func TestTokenNeedsASecret(t *testing.T) {
	w := start(t, nil)
	for name, c := range map[string]struct {
		config map[string]any
		want   string
	}{
		"None":  {map[string]any{"name": "t"}, "secret_wo"},
		"Both":  {map[string]any{"name": "t", "secret_wo": "long-enough-secret-word", "sha256": strings.Repeat("a", 64)}, "not both"},
		"Short": {map[string]any{"name": "t", "secret_wo": "shorty"}, "between 16"},
		"Hash":  {map[string]any{"name": "t", "sha256": "abc"}, "sha256"},
	} {
		r := w.Resource("koldun_token")
		e := r.Validate(c.config)
		if e == "" {
			e = r.Plan(c.config).Errors
		}
		if !strings.Contains(e, c.want) || strings.Contains(e, "shorty") || strings.Contains(e, "secret-word") {
			t.Errorf("%s: got %q, want %q", name, e, c.want)
		}
	}
}
