package managed_test

import (
	"testing"

	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

// TestImportOfAGeneratedToken checks that the first plan after an import sets in
// place what an import cannot read, and replaces neither resource nor secret.
func TestImportOfAGeneratedToken(t *testing.T) {
	w, s := startWithSafe(t, nil)
	config := map[string]any{"name": "app", "write_secret_to": map[string]any{"name": "app"}, "rotate_after": "1h", "overlap": "30m"}
	r := w.Resource("koldun_token")
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	first := agree(t, w, s, r, "app")
	for name, imported := range map[string]*providertest.Resource{
		"ID": w.Import("koldun_token", "app"), "Identity": w.ImportIdentity("koldun_token", map[string]any{"name": "app"}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, a := range []string{"write_secret_to", "rotate_after", "overlap"} {
				if got := imported.Attribute(a); got != nil {
					t.Errorf("%s: got %v from the import, want none, as documented", a, got)
				}
			}
			if p := imported.Plan(config); p.Errors != "" || p.Empty || len(p.Replace) > 0 {
				t.Errorf("plan after the import: got %v, which replaces for %v %s", providertest.JSON(p.State), p.Replace, p.Errors)
			}
			if e := imported.Apply(config); e != "" {
				t.Fatal(e)
			}
			imported.CheckStable(config)
			if agree(t, w, s, imported, "app") != first {
				t.Error("the import replaced the token")
			}
		})
	}
}
